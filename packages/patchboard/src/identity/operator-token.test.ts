import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ensureOperatorToken, isSameSecret, operatorTokenFile } from './operator-token.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'patchboard-token-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

const mode = (): number => statSync(operatorTokenFile(folder)).mode & 0o777;

describe('ensureOperatorToken', () => {
  it('creates a token of 256 bits that only its owner can read, and keeps it', async () => {
    const token = await ensureOperatorToken(folder);
    expect(token).toMatch(/^op_[A-Za-z0-9_-]{43}$/);
    expect(readFileSync(operatorTokenFile(folder), 'utf8')).toBe(`${token}\n`);
    expect(mode()).toBe(0o600);
    expect(await ensureOperatorToken(folder)).toBe(token);
  });

  it('creates a single token for concurrent starts', async () => {
    const tokens = await Promise.allSettled(Array.from({ length: 20 }, () => ensureOperatorToken(folder)));
    const made = tokens.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    expect(new Set(made).size).toBe(1);
  });

  it.each(['', 'op_short\n', 'something else that is long enough to be a token'])(
    'refuses a file that holds "%s"',
    async (text) => {
      writeFileSync(operatorTokenFile(folder), text);
      await expect(ensureOperatorToken(folder)).rejects.toThrow(/holds no operator token: delete it/);
    },
  );
});

describe('isSameSecret', () => {
  it('compares texts of any length', () => {
    expect(isSameSecret('a', 'a')).toBe(true);
    for (const other of ['', 'b', 'aa', 'A']) expect(isSameSecret(other, 'a')).toBe(false);
  });
});
