import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const SCRIPT = fileURLToPath(new URL('./system-packages.mjs', import.meta.url));
const isRoot = process.getuid?.() === 0;

/** Programs of the needed packages. */
const PROGRAMS = [
  'curl',
  'initdb',
  'python3',
  'chromium',
  'bwrap',
  'pgrep',
  'pgbouncer',
  'nats-server',
  'openssl',
];

/** PATH holds only the programs that a test adds, so that curl is missing. */
describe('system packages for the tests', () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'patchboard-packages-'));
  });

  afterEach(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  function run(): { status: number | null; stderr: string } {
    return spawnSync(process.execPath, [SCRIPT], { env: { PATH: folder }, encoding: 'utf8', input: '' });
  }

  function put(name: string, text: string): void {
    writeFileSync(join(folder, name), `#!/bin/sh\n${text}\n`);
    chmodSync(join(folder, name), 0o755);
  }

  it('prints the command to run without apt-get', () => {
    const { status, stderr } = run();
    expect(status).toBe(1);
    expect(stderr).toMatch(
      /the tests need curl.*Install with:\n {2}brew install curl.* && brew install openssl$/ms,
    );
  });

  it('prints the command if the installation failed or is not allowed', () => {
    put('apt-get', `echo "$@" >> ${folder}/log; exit 0`);
    const { status, stderr } = run();
    expect(status).toBe(1);
    expect(stderr).toMatch(/Install with:\n {2}sudo apt-get install -y curl/);
    const tried = existsSync(join(folder, 'log')) ? readFileSync(join(folder, 'log'), 'utf8') : '';
    expect(/install curl/.test(tried)).toBe(isRoot);
  });

  // Only root installs without asking.
  if (isRoot) {
    it('continues once everything is installed, with a fresh package list if needed', () => {
      const pretend = `for name in curl initdb python3 chromium bwrap pgrep pgbouncer nats-server openssl; do printf '#!/bin/sh\\n' > ${folder}/$name; /bin/chmod 755 ${folder}/$name; done`;
      put(
        'apt-get',
        `echo "$@" >> ${folder}/log\ncase "$*" in *update*) : > ${folder}/fresh;; esac\n[ -e ${folder}/fresh ] || exit 100\n${pretend}`,
      );
      expect(run()).toMatchObject({ status: 0 });
      const tried = readFileSync(join(folder, 'log'), 'utf8').trim().split('\n');
      expect(tried.map((line) => line.replace(/^.* (?=install|update)/, ''))).toEqual([
        expect.stringMatching(/^install curl .* openssl$/),
        'update',
        expect.stringMatching(/^install curl .* openssl$/),
        'install chromium-headless-shell',
      ]);
    });

    it('continues without the browser that saves time if that cannot be installed', () => {
      for (const name of PROGRAMS) put(name, '');
      put('apt-get', `echo "$@" >> ${folder}/log; exit 100`);
      expect(run()).toMatchObject({ status: 0, stderr: expect.stringContaining('continuing without it') });
      expect(readFileSync(join(folder, 'log'), 'utf8')).toMatch(/^.* install chromium-headless-shell\n$/);
    });
  }
});
