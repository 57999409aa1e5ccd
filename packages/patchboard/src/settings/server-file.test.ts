import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { ConfigError } from './config-error.ts';
import { runningServer } from './server-file.ts';

function aFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'patchboard-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

it('says in one line that server.json cannot be read, and what to do', async () => {
  const folder = aFolder();
  mkdirSync(join(folder, 'server.json'));
  await expect(runningServer(folder)).rejects.toThrow(ConfigError);
  await expect(runningServer(folder)).rejects.toThrow(
    /server\.json: it is a folder; name the server with PATCHBOARD_URL/,
  );
});

it('finds no server in a data folder that does not exist, or is a file', async () => {
  const file = join(aFolder(), 'file');
  writeFileSync(file, '');
  expect(await runningServer(file)).toBeNull();
  expect(await runningServer(join(file, 'below'))).toBeNull();
  expect(await runningServer(join(aFolder(), 'none'))).toBeNull();
});
