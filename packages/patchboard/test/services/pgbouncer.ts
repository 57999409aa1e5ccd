import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

import { aFixedPort } from '../support/a-fixed-port.ts';
import { startServerChild } from './server-child.ts';
import { giveTo, serverUser } from './server-user.ts';
import type { SharedPostgres } from './shared-postgres.ts';

/** A connection pooler in front of a PostgreSQL server, in transaction mode. */
export interface PgbouncerService {
  /** Address of the `postgres` database as the superuser. */
  readonly url: string;
  stop(): Promise<void>;
}

export interface PgbouncerOptions {
  /** Connections to the server, per role and database. Default: 2, so that clients get a different one now and then. */
  readonly poolSize?: number;
  /** Startup parameters that are accepted and have no effect. Others than the standard ones are refused by default. */
  readonly ignoreStartupParameters?: readonly string[];
}

/** Debian installs it for root's PATH only. */
const FOLDERS = ['/usr/sbin', '/usr/local/sbin', ...(process.env['PATH'] ?? '').split(delimiter)];

/** Throws if it can not be started; tests do not skip. */
export async function startPgbouncer(
  service: SharedPostgres,
  options: PgbouncerOptions = {},
): Promise<PgbouncerService> {
  const program = FOLDERS.map((folder) => join(folder, 'pgbouncer')).find((path) => existsSync(path));
  if (program === undefined)
    throw new Error(
      'PgBouncer is not installed, and this test does not pass without it. On Debian: apt-get install pgbouncer',
    );
  const folder = mkdtempSync(join(tmpdir(), 'patchboard-pgbouncer-'));
  const user = serverUser();
  const port = await aFixedPort();
  const config = join(folder, 'pgbouncer.ini');
  const users = join(folder, 'users.txt');
  writeFileSync(users, '"postgres" ""\n');
  writeFileSync(config, configOf(service, port, users, options));
  giveTo(user, folder, config, users);
  try {
    const server = await startServerChild({
      program,
      args: [config],
      options: { ...user, cwd: folder, env: {} },
      ready: 'process up',
      endSignal: 'SIGTERM',
      folder,
    });
    return {
      url: `postgres://postgres@127.0.0.1:${port}/postgres`,
      stop: async () => {
        await server.end('SIGTERM');
        rmSync(folder, { recursive: true, force: true });
      },
    };
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

function configOf(service: SharedPostgres, port: number, users: string, options: PgbouncerOptions): string {
  const ignored = options.ignoreStartupParameters ?? [];
  return [
    '[databases]',
    `* = host=127.0.0.1 port=${service.port}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'auth_type = trust',
    `auth_file = ${users}`,
    'pool_mode = transaction',
    `default_pool_size = ${options.poolSize ?? 2}`,
    ...(ignored.length === 0 ? [] : [`ignore_startup_parameters = ${ignored.join(',')}`]),
    '',
  ].join('\n');
}
