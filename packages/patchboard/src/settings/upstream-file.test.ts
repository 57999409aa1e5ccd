import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { changeUpstreamFile, readUpstreamFile, upstreamFileIn } from './upstream-file.ts';

describe('upstreams.json', () => {
  let folder: string;
  let file: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'patchboard-upstream-file-'));
    file = upstreamFileIn(folder);
  });
  afterEach(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  it('is empty until something is added, and then readable by its owner only', async () => {
    expect(readUpstreamFile(folder).value).toEqual({});
    await changeUpstreamFile(folder, (config) => ({ ...config, upstreams: { one: { command: 'a' } } }));
    expect(readUpstreamFile(folder).value).toEqual({ upstreams: { one: { command: 'a' } } });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(existsSync(`${file}-draft`)).toBe(false);
  });

  it('is refused if other users can read it, because its commands are run', () => {
    writeFileSync(file, '{}');
    chmodSync(file, 0o644);
    expect(() => readUpstreamFile(folder)).toThrow(
      `${file} can be read by other users, mode 0644: run chmod 600 on it. Look at its commands first`,
    );
  });

  it.each([
    ['{', 'upstreams.json:1: Flow map'],
    ['{"upstreams": {\n"one": {}}}', 'upstreams.json:2: upstreams.one needs exactly one of url and command'],
    ['{"tools": {}}', 'upstreams.json:1: unknown key tools'],
  ])('%s is refused with its line', (text, message) => {
    writeFileSync(file, text, { mode: 0o600 });
    expect(() => readUpstreamFile(folder)).toThrow(message);
  });

  it('stays as it is if the change is not valid or throws', async () => {
    await changeUpstreamFile(folder, () => ({ upstreams: { one: { command: 'a' } } }));
    const before = readFileSync(file, 'utf8');
    await expect(changeUpstreamFile(folder, () => ({ upstreams: { two: {} } }))).rejects.toThrow(
      'upstreams.two needs exactly one of url and command',
    );
    await expect(
      changeUpstreamFile(folder, () => {
        throw new Error('no');
      }),
    ).rejects.toThrow('no');
    expect(readFileSync(file, 'utf8')).toBe(before);
    expect(existsSync(`${file}-draft`)).toBe(false);
  });

  it('is changed by one command at a time', async () => {
    writeFileSync(`${file}-draft`, '');
    await expect(changeUpstreamFile(folder, (config) => config)).rejects.toThrow(
      `another command is changing ${file}: run this one again; if there is no other, delete ${file}-draft first`,
    );
    expect(existsSync(`${file}-draft`)).toBe(true);
  });
});
