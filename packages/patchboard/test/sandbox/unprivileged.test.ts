import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import type { UnprivilegedReport } from './support/unprivileged.ts';

const SCRIPT = fileURLToPath(new URL('./support/unprivileged.ts', import.meta.url));
/** A user id that no system assigns. */
const OTHER_USER = 64_824;
const SECRET = 'planted-secret-9d17';
const PROCESSES = 64;

function asAnotherUser(): UnprivilegedReport {
  const args = ['--conditions=patchboard-source', SCRIPT, String(OTHER_USER), SECRET, String(PROCESSES)];
  const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', timeout: 120_000 });
  const line = stdout.trim().split('\n').at(-1) ?? '';
  if (line === '') throw new Error(stderr);
  return JSON.parse(line) as UnprivilegedReport;
}

/**
 * The escape suite runs as the user of the tests, and in a container that is root. Without root bubblewrap goes another
 * way: a user namespace of its own. Where that is forbidden, or this folder is closed to others, nothing must be on.
 */
it('a server that is not root encloses commands as well, or says why it cannot and has them off', () => {
  const { serverUid, problem, canary, tried } = asAnotherUser();
  expect(serverUid).toBe(process.getuid?.() === 0 ? OTHER_USER : process.getuid?.());
  if (tried === null) {
    expect(problem).toMatch(/User namespaces may be switched off|Install it/);
    return;
  }
  expect(canary.map(({ held }) => held)).toEqual(canary.map(() => true));
  expect(tried).toMatchObject({
    commandUid: String(serverUid),
    wroteOutside: false,
    connections: 0,
    bystander: 'SIGTERM',
    survivors: 0,
  });
  expect(tried.provider).not.toBe('none');
  expect(tried.status).toMatch(/CapEff:\s+0+\nNoNewPrivs:\s+1/);
  expect(tried.seen).not.toContain(SECRET);
  expect(tried.seen).not.toMatch(/^connected/m);
  expect(tried.mostProcesses).toBeGreaterThan(1);
  expect(tried.mostProcesses).toBeLessThanOrEqual(PROCESSES + 4);
}, 180_000);
