import type { SpawnOptions } from 'node:child_process';
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { aFixedPort } from '../support/a-fixed-port.ts';
import { CERTIFIED_ROLE, makeCertificates } from './certificates.ts';
import type { Certificates } from './certificates.ts';
import { findPostgres } from './postgres-binaries.ts';
import type { PostgresBinaries, PostgresVersion } from './postgres-binaries.ts';
import { createCluster } from './postgres-cluster.ts';
import { startServerChild } from './server-child.ts';
import type { ServerChild } from './server-child.ts';
import { giveTo, serverUser } from './server-user.ts';

/** `fast` ends the sessions and writes a checkpoint; `immediate` is a crash of which the server recovers at its next start. */
export type StopMode = 'fast' | 'immediate';

/** A separate PostgreSQL server: temporary folder, a port of its own on loopback, no password. */
export interface PostgresService {
  /** Major version of the running server. */
  readonly version: number;
  /** Stays the same over restarts. */
  readonly port: number;
  /** Address of the `postgres` database as the superuser. */
  readonly url: string;
  /** The data folder, which a test may copy and replace while the server is stopped. */
  readonly data: string;
  /** Only with the option `tls`. */
  readonly certificates?: Certificates;
  /** Address of a database as any role; neither is created. */
  urlFor(role: string, database: string): string;
  /** Stops the server and keeps its data. */
  stop(mode?: StopMode): Promise<void>;
  start(): Promise<void>;
  restart(mode?: StopMode): Promise<void>;
  /** Sends SIGKILL to the first process of the server; the processes of its sessions notice and end. */
  kill(): Promise<void>;
  /** Ends the server and removes its data. */
  close(): Promise<void>;
}

export interface PostgresOptions {
  /** Default: 15. */
  readonly version?: PostgresVersion;
  /** Whether commits wait for fsync. Default: false, for tests. */
  readonly durable?: boolean;
  /** Whether the server offers TLS, and demands a client certificate of the role `certified`. */
  readonly tls?: boolean;
  /** Further settings of the server. */
  readonly settings?: Readonly<Record<string, string>>;
}

const SIGNALS: Readonly<Record<StopMode, NodeJS.Signals>> = { fast: 'SIGINT', immediate: 'SIGQUIT' };
const PORT_ATTEMPTS = 3;
const LEFTOVER_ATTEMPTS = 200;
const LEFTOVER_POLL_MS = 50;

/** Throws if no server can be started; tests do not skip. */
export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresService> {
  const folder = mkdtempSync(join(tmpdir(), 'patchboard-postgres-'));
  try {
    const binaries = findPostgres(options.version ?? 15, join(folder, 'binaries'));
    const setup = initialise(folder, binaries, options);
    for (let attempt = 1; ; attempt += 1) {
      const port = await aFixedPort();
      try {
        return serviceOf(setup, port, await startServer(setup, port));
      } catch (error) {
        // Another program may take the port between finding it and using it.
        if (attempt === PORT_ATTEMPTS) throw error;
      }
    }
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

interface Setup {
  readonly folder: string;
  readonly data: string;
  readonly binaries: PostgresBinaries;
  readonly spawnOptions: SpawnOptions;
  readonly settings: Readonly<Record<string, string>>;
  readonly certificates?: Certificates;
}

function initialise(folder: string, binaries: PostgresBinaries, options: PostgresOptions): Setup {
  const user = serverUser();
  giveTo(user, folder);
  const spawnOptions = {
    ...user,
    cwd: folder,
    env: { PATH: process.env['PATH'] ?? '', LC_ALL: 'C' },
  };
  const data = join(folder, 'data');
  createCluster(binaries, data, spawnOptions);
  const synced = options.durable === true ? 'on' : 'off';
  const settings = {
    fsync: synced,
    full_page_writes: synced,
    listen_addresses: '127.0.0.1',
    unix_socket_directories: data,
    ...options.settings,
  };
  const setup = { folder, data, binaries, spawnOptions };
  if (options.tls !== true) return { ...setup, settings };
  const certificates = setUpTls(folder, data);
  giveTo(user, certificates.server.certificate, certificates.server.key);
  const { certificate, key } = certificates.server;
  const tls = { ssl: 'on', ssl_ca_file: certificates.ca, ssl_cert_file: certificate, ssl_key_file: key };
  return { ...setup, certificates, settings: { ...settings, ...tls } };
}

function setUpTls(folder: string, data: string): Certificates {
  const own = join(folder, 'certificates');
  mkdirSync(own, { mode: 0o755 });
  const access = join(data, 'pg_hba.conf');
  const rules = readFileSync(access, 'utf8');
  writeFileSync(
    access,
    `hostssl all ${CERTIFIED_ROLE} all cert\nhostnossl all ${CERTIFIED_ROLE} all reject\n`,
  );
  appendFileSync(access, rules);
  return makeCertificates(own);
}

function serviceOf(setup: Setup, port: number, first: ServerChild): PostgresService {
  let server = first;
  const urlFor = (role: string, database: string): string =>
    `postgres://${role}@127.0.0.1:${port}/${database}`;
  const stop = async (mode: StopMode = 'fast'): Promise<void> => await server.end(SIGNALS[mode]);
  const start = async (): Promise<void> => {
    if (!server.isRunning()) server = await startServer(setup, port);
  };
  return {
    version: setup.binaries.version,
    port,
    url: urlFor('postgres', 'postgres'),
    data: setup.data,
    ...(setup.certificates === undefined ? {} : { certificates: setup.certificates }),
    urlFor,
    stop,
    start,
    restart: async (mode) => {
      await stop(mode);
      await start();
    },
    kill: async () => await server.end('SIGKILL'),
    close: async () => {
      await stop('immediate');
      rmSync(setup.folder, { recursive: true, force: true });
    },
  };
}

/** After a kill, processes of its sessions may live for a moment; a server does not start beside them. */
async function startServer(setup: Setup, port: number): Promise<ServerChild> {
  const settings = Object.entries(setup.settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await startServerChild({
        program: join(setup.binaries.folder, 'postgres'),
        args: ['-D', setup.data, '-p', String(port), ...settings],
        options: setup.spawnOptions,
        ready: 'database system is ready to accept',
        endSignal: 'SIGQUIT',
        folder: setup.folder,
      });
    } catch (error) {
      if (!String(error).includes('still in use') || attempt === LEFTOVER_ATTEMPTS) throw error;
      await delay(LEFTOVER_POLL_MS);
    }
  }
}
