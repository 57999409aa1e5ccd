import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcess, SpawnOptions } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A separate PostgreSQL server for a test: temporary folder, free port on loopback, no password. */
export interface PostgresService {
  /** Address of the `postgres` database as the superuser. */
  readonly url: string;
  /** Address of a database as any role; neither is created. */
  urlFor(role: string, database: string): string;
  stop(): Promise<void>;
}

const MISSING =
  'PostgreSQL is not installed, and this test does not pass without it. On Debian: apt-get install postgresql';
const START_ATTEMPTS = 3;

export interface PostgresOptions {
  /** Whether commits wait for fsync. Default: false, for tests. */
  readonly durable?: boolean;
}

/** Throws if no server can be started; tests do not skip. */
export async function startPostgres({ durable = false }: PostgresOptions = {}): Promise<PostgresService> {
  const bin = findBinaries();
  const folder = mkdtempSync(join(tmpdir(), 'patchboard-postgres-'));
  const owner = ownerOfServer();
  if (owner.uid !== undefined && owner.gid !== undefined) chownSync(folder, owner.uid, owner.gid);
  const options: SpawnOptions = {
    ...owner,
    cwd: folder,
    env: { PATH: process.env['PATH'] ?? '', LC_ALL: 'C' },
  };
  const data = join(folder, 'data');
  try {
    initialise(join(bin, 'initdb'), data, options);
    const { server, port } = await startOnFreePort(join(bin, 'postgres'), data, durable, options);
    const urlFor = (role: string, database: string): string =>
      `postgres://${role}@127.0.0.1:${port}/${database}`;
    return { url: urlFor('postgres', 'postgres'), urlFor, stop: () => stop(server, folder) };
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

/** Debian keeps the server binaries out of PATH, one folder per version. */
function findBinaries(): string {
  const root = '/usr/lib/postgresql';
  const versions = existsSync(root) ? readdirSync(root).sort((a, b) => Number(b) - Number(a)) : [];
  const folders = [
    ...versions.map((version) => join(root, version, 'bin')),
    ...(process.env['PATH'] ?? '').split(':'),
  ];
  const found = folders.find((folder) => folder !== '' && existsSync(join(folder, 'initdb')));
  if (found === undefined) throw new Error(MISSING);
  return found;
}

/** PostgreSQL refuses to run as root, so it runs as the user of its package. */
function ownerOfServer(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {};
  return { uid: idOf('-u'), gid: idOf('-g') };
}

function idOf(flag: '-u' | '-g'): number {
  for (const user of ['postgres', 'nobody']) {
    const result = spawnSync('id', [flag, user], { encoding: 'utf8' });
    if (result.status === 0) return Number(result.stdout);
  }
  throw new Error('there is no user to run PostgreSQL as: neither postgres nor nobody exists');
}

function initialise(initdb: string, data: string, options: SpawnOptions): void {
  const args = ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-sync'];
  const result = spawnSync(initdb, args, { ...options, encoding: 'utf8', stdio: 'pipe' });
  if (result.status !== 0) throw new Error(`initdb failed: ${result.error?.message ?? result.stderr}`);
}

/** Another program may take the port between finding it and using it; then the next one is tried. */
async function startOnFreePort(
  postgres: string,
  data: string,
  durable: boolean,
  options: SpawnOptions,
): Promise<{ server: ChildProcess; port: number }> {
  for (let attempt = 1; ; attempt += 1) {
    const port = await freePort();
    const settings = [
      `fsync=${durable ? 'on' : 'off'}`,
      'listen_addresses=127.0.0.1',
      `unix_socket_directories=${data}`,
    ];
    const args = ['-D', data, '-p', String(port), ...settings.flatMap((setting) => ['-c', setting])];
    try {
      return { server: await startServer(postgres, args, options), port };
    } catch (error) {
      if (attempt === START_ATTEMPTS) throw error;
    }
  }
}

function startServer(
  postgres: string,
  args: readonly string[],
  options: SpawnOptions,
): Promise<ChildProcess> {
  const server = spawn(postgres, args, { ...options, stdio: ['ignore', 'ignore', 'pipe'] });
  const endWithUs = (): void => void server.kill('SIGQUIT');
  process.once('exit', endWithUs);
  return new Promise((resolve, reject) => {
    let log = '';
    server.stderr?.setEncoding('utf8').on('data', (text: string) => {
      log = (log + text).slice(-10_000);
      if (log.includes('ready to accept connections')) resolve(server);
    });
    server.once('error', reject);
    server.once('exit', (code) => {
      process.removeListener('exit', endWithUs);
      reject(new Error(`PostgreSQL ended with code ${code}: ${log}`));
    });
  });
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as AddressInfo;
      probe.close(() => resolve(port));
    });
  });
}

/** SIGINT is the server's fast shutdown: it ends its sessions and then itself. */
async function stop(server: ChildProcess, folder: string): Promise<void> {
  if (server.exitCode === null && server.signalCode === null) {
    const ended = new Promise((resolve) => server.once('exit', resolve));
    server.kill('SIGINT');
    await ended;
  }
  rmSync(folder, { recursive: true, force: true });
}
