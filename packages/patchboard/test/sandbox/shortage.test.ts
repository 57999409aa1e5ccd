import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rgPath } from '@vscode/ripgrep';
import { expect, it } from 'vitest';
import { closedAfterEach } from '../support/after-each.ts';
import { runCommand } from '../support/run-command.ts';
import { cleanEnvironment } from '../support/server-process.ts';
import { aSandboxSetup } from './support/a-sandbox-setup.ts';

const SEARCH = fileURLToPath(new URL('./support/search-without-descriptors.ts', import.meta.url));
const closeLater = closedAfterEach();

it('the file server goes on when a search finds no descriptors left', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'patchboard-shortage-'));
  closeLater(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, 'a.txt'), 'a\n');
  const node = [process.execPath, '--conditions=patchboard-source', SEARCH, folder, rgPath];
  const limited = ['-c', 'ulimit -n 64 && exec "$@"', 'bash', ...node];
  const ended = await runCommand('bash', limited, { cwd: folder, env: cleanEnvironment() });
  expect(ended).toEqual({ out: 'EMFILE, then 1 found\n', error: '', code: 0 });
});

it('a command that is longer than the system takes is refused before it starts', async () => {
  const bench = await aSandboxSetup();
  closeLater(() => bench.close());
  const command = `: ${'字'.repeat(50_000)}`;
  await expect(bench.sandbox().exec(command)).rejects.toMatchObject({
    failure: { code: 'input_invalid', message: 'the command has 150002 bytes; the limit is 131071' },
  });
  expect(await bench.sandbox().exec(`: ${'字'.repeat(40_000)}`)).toMatchObject({ exitCode: 0 });
});
