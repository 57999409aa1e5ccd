import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { ROOT } from '../support/server-process.ts';
import { startServerChild } from './server-child.ts';

/** Debian installs it for root's PATH only. */
const FOLDERS = ['/usr/sbin', '/usr/local/sbin', ...(process.env['PATH'] ?? '').split(delimiter)];

/**
 * Starts HAProxy with the config of the repository, until the test has ended. Each address is ADDRESS:PORT. Throws if it can
 * not be started; tests do not skip.
 */
export async function startHaproxy(listen: string, nodes: readonly [string, string]): Promise<void> {
  const program = FOLDERS.map((folder) => join(folder, 'haproxy')).find((path) => existsSync(path));
  if (program === undefined)
    throw new Error(
      'haproxy is not installed, and this test does not pass without it. On Debian: apt-get install haproxy',
    );
  const folder = mkdtempSync(join(tmpdir(), 'patchboard-haproxy-'));
  const server = await startServerChild({
    program,
    args: ['-W', '-f', join(ROOT, 'deploy', 'haproxy.cfg')],
    options: { cwd: folder, env: { LISTEN: listen, NODE_1: nodes[0], NODE_2: nodes[1] } },
    ready: 'Loading success',
    // Its worker ends with it.
    endSignal: 'SIGTERM',
    folder,
  });
  onTestFinished(async () => {
    await server.end('SIGTERM');
    rmSync(folder, { recursive: true, force: true });
  });
}
