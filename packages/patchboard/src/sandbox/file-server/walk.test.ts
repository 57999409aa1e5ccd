import { mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { atPlace } from './walk.ts';

const TOO_LONG = 'x'.repeat(300);

describe('a walk', () => {
  const root = mkdtempSync(join(tmpdir(), 'patchboard-walk-'));
  symlinkSync('..', join(root, 'out'));
  afterAll(() => rmSync(root, { recursive: true, force: true }));

  it.each([
    ['a name that is too long', TOO_LONG],
    ['a folder whose name is too long', `${TOO_LONG}/a`],
    ['a folder that is missing', 'missing/a'],
    ['a link that leads out', 'out/a'],
    ['a path that leads out', '../a'],
  ])('that fails on %s leaves no folder open', (_what, path) => {
    const walk = (): void => atPlace(root, path, false, () => expect.unreachable());
    const before = readdirSync('/proc/self/fd').length;
    for (let time = 0; time < 20; time += 1) expect(walk).toThrow();
    expect(readdirSync('/proc/self/fd').length).toBe(before);
  });
});
