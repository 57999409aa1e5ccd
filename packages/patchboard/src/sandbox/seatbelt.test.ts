import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { DEFAULT_COMMAND_LIMITS } from './command-limits.ts';
import { profileOf, seatbelt } from './seatbelt.ts';

/** Tests the text of the profile; the canary tests its effect on macOS at every start. */
describe('the Seatbelt profile', () => {
  const folder = mkdtempSync(join(tmpdir(), 'patchboard-seatbelt-'));
  const options = {
    tools: { node: '/opt/node/bin/node', ripgrep: '/opt/rg/rg', fileServer: '/opt/files' },
    limits: DEFAULT_COMMAND_LIMITS,
    environment: { CI: 'yes' },
    readable: ['/opt/tool "chain"'],
    searchPath: '/usr/bin',
    stateFolder: folder,
  };
  const command = {
    argv: ['bash', '-c', 'true'],
    root: folder,
    cwd: folder,
    network: false,
    environment: { A: 'b' },
    user: null,
  };

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('denies by default, and writes only in the workspace and the temporary folder', () => {
    const lines = profileOf(command, options).split('\n');
    expect(lines.slice(0, 2)).toEqual(['(version 1)', '(deny default)']);
    expect(lines.filter((line) => line.includes('file-write*'))).toEqual([
      `(allow file-write* (subpath "${folder}") (subpath "${join(folder, 'tmp')}"))`,
    ]);
    expect(lines.find((line) => line.startsWith('(allow file-read* '))).not.toMatch(
      /"\/Users"|"\/private\/var"|subpath "\/"/,
    );
    expect(lines).toContain('(deny network*)');
    expect(lines).toContain('(allow signal (target same-sandbox))');
  });

  it('allows the network only to a command with network access', () => {
    expect(profileOf({ ...command, network: true }, options)).toContain('(allow network*)');
  });

  it('escapes quotes in paths', () => {
    expect(profileOf(command, options)).toContain(String.raw`(subpath "/opt/tool \"chain\"")`);
    const tricky = profileOf({ ...command, root: '/a")(allow default)("' }, options);
    expect(tricky).toContain(String.raw`(allow file-write* (subpath "/a\")(allow default)(\"")`);
  });

  it('clears the environment and starts through the launcher', () => {
    const line = seatbelt(options).wrap(command);
    expect(line.file).toBe('/usr/bin/sandbox-exec');
    expect(line.args.slice(0, 1)).toEqual(['-p']);
    expect(line.args.slice(-3)).toEqual(['bash', '-c', 'true']);
    expect(line.env).toMatchObject({ A: 'b', CI: 'yes', HOME: folder });
    expect(Object.keys(line.env)).not.toContain('SSH_AUTH_SOCK');
  });
});
