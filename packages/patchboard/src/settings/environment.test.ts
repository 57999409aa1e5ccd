import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { ConfigError } from './config-error.ts';
import { clientSettings, environment } from './environment.ts';

const TOKEN = 'a-token-of-the-operator-with-32-characters';

function aFile(text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'patchboard-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'secret');
  writeFileSync(file, text);
  return file;
}

it('reads secrets from the files that variables name, without the end of the last line', () => {
  const given = environment({
    DATABASE_URL_FILE: aFile('postgres://app:planted@db/board\n'),
    PATCHBOARD_OPERATOR_TOKEN_FILE: aFile(`${TOKEN}\n`),
    NATS_URL_FILE: '',
    PORT: '1',
  });
  expect(given['DATABASE_URL']).toBe('postgres://app:planted@db/board');
  expect([given['NATS_URL'], given['PORT']]).toEqual([undefined, '1']);
  expect(clientSettings(given).operatorToken).toBe(TOKEN);
  expect({ ...given }['DATABASE_URL']).toBe('postgres://app:planted@db/board');
});

it('refuses a file that cannot be read, and a variable beside its file, when the value is used', () => {
  const missing = environment({ NATS_URL_FILE: '/nowhere/nats', PORT: '1' });
  expect(missing['PORT']).toBe('1');
  expect(() => missing['NATS_URL']).toThrow(ConfigError);
  expect(() => missing['NATS_URL']).toThrow(
    'NATS_URL_FILE names /nowhere/nats, which cannot be read: there is no such file or folder',
  );
  const both = environment({ DATABASE_URL: 'postgres://db/a', DATABASE_URL_FILE: aFile('postgres://db/b') });
  expect(() => both['DATABASE_URL']).toThrow(
    'DATABASE_URL and DATABASE_URL_FILE are both set: remove one of them',
  );
});
