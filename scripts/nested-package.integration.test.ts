import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const PACKAGE = 'interop/conformance';

/** A copy of the scripts beside a package, and an npm that only leaves a trace. */
describe('packages beside the workspaces', () => {
  let root: string;

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'patchboard-nested-'));
    for (const name of ['nested-package.mjs', 'conformance.mjs'])
      cpSync(fileURLToPath(new URL(name, import.meta.url)), join(root, 'scripts', name));
    mkdirSync(join(root, PACKAGE, 'node_modules'), { recursive: true });
    npm('exit 0');
  });

  afterEach(() => {
    rmSync(root, { recursive: true, force: true });
  });

  function npm(text: string): void {
    mkdirSync(join(root, 'bin'), { recursive: true });
    writeFileSync(join(root, 'bin', 'npm'), `#!/bin/sh\n: > ${root}/ran\n${text}\n`);
    chmodSync(join(root, 'bin', 'npm'), 0o755);
  }

  function lockfile(path: string, packages: Readonly<Record<string, object>>): void {
    writeFileSync(join(root, PACKAGE, path), JSON.stringify({ packages }));
  }

  function run(): { status: number | null; stderr: string; ran: boolean } {
    const script = join(root, 'scripts', 'conformance.mjs');
    const { status, stderr } = spawnSync(process.execPath, [script], {
      env: { PATH: join(root, 'bin') },
      encoding: 'utf8',
    });
    return { status, stderr, ran: existsSync(join(root, 'ran')) };
  }

  const SUITE = { '': {}, 'node_modules/suite': { version: '1.0.0' } };
  const OTHER_PLATFORM = { 'node_modules/windows': { version: '1.0.0', optional: true } };

  it('are not installed again while they match their lockfile', () => {
    lockfile('package-lock.json', { ...SUITE, ...OTHER_PLATFORM });
    lockfile('node_modules/.package-lock.json', { 'node_modules/suite': { version: '1.0.0' } });
    expect(run()).toMatchObject({ status: 0, stderr: '', ran: false });
  });

  it.each([
    ['another version', { 'node_modules/suite': { version: '0.9.0' } }],
    ['a package less', {}],
  ])('are installed if there is %s', (_title, installed) => {
    lockfile('package-lock.json', SUITE);
    lockfile('node_modules/.package-lock.json', installed);
    expect(run()).toMatchObject({ status: 0, ran: true });
  });

  it('say what to do if they cannot be installed', () => {
    lockfile('package-lock.json', SUITE);
    npm('exit 1');
    const { status, stderr } = run();
    expect(status).toBe(1);
    expect(stderr).toMatch(
      /npm ci failed in interop\/conformance.*npm registry.*copy interop\/conformance\/node_modules/s,
    );
  });

  it('need their lockfile', () => {
    expect(run()).toMatchObject({ status: 1, ran: false });
    expect(run().stderr).toContain('interop/conformance/package-lock.json is missing');
  });
});
