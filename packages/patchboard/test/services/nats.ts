import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

import { aFixedPort } from '../support/a-fixed-port.ts';
import { startServerChild } from './server-child.ts';
import type { ServerChild } from './server-child.ts';

/** A NATS server of its own, on a port of its own on loopback. */
export interface NatsService {
  /** Stays the same over restarts. */
  readonly port: number;
  readonly url: string;
  stop(): Promise<void>;
  start(): Promise<void>;
  /** Sends SIGKILL. */
  kill(): Promise<void>;
  close(): Promise<void>;
}

/** Debian installs it for root's PATH only. */
const FOLDERS = ['/usr/sbin', '/usr/local/sbin', ...(process.env['PATH'] ?? '').split(delimiter)];

/** Throws if it can not be started; tests do not skip. `config`: lines of the config file of the server. */
export async function startNats(config: readonly string[] = []): Promise<NatsService> {
  const program = FOLDERS.map((folder) => join(folder, 'nats-server')).find((path) => existsSync(path));
  if (program === undefined)
    throw new Error(
      'nats-server is not installed, and this test does not pass without it. On Debian: apt-get install nats-server',
    );
  const folder = mkdtempSync(join(tmpdir(), 'patchboard-nats-'));
  const port = await aFixedPort();
  const file = join(folder, 'nats.conf');
  writeFileSync(file, [`listen: "127.0.0.1:${port}"`, ...config, ''].join('\n'));
  const start = async (): Promise<ServerChild> =>
    await startServerChild({
      program,
      args: ['-c', file],
      options: { cwd: folder, env: {} },
      ready: 'Server is ready',
      endSignal: 'SIGKILL',
      folder,
    });
  let server = await start();
  return {
    port,
    url: `nats://127.0.0.1:${port}`,
    stop: async () => await server.end('SIGINT'),
    start: async () => {
      if (!server.isRunning()) server = await start();
    },
    kill: async () => await server.end('SIGKILL'),
    close: async () => {
      await server.end('SIGKILL');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
