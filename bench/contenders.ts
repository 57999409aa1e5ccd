import { mkdir } from 'node:fs/promises';
import { ECHO_TOOL } from './arms/bench-pack.ts';
import type { StorePlace } from './arms/bench-settings.ts';
import type { EngineSettings } from './arms/in-process.ts';
import type { Life, LifeSettings } from './arms/lives.ts';
import type { ServerSettings } from './arms/patchboard.ts';
import type { PeerLivesSettings } from './arms/peer-lives.ts';
import type { PeerServerSettings } from './arms/peer-server.ts';
import type { PeerName } from './arms/peers/open-peer.ts';
import { runScript, startServer, type ServerProcess } from './child.ts';
import type { Databases } from './databases.ts';
import type { Headers } from './http.ts';
import { createKey } from './key.ts';
import type { RestateService } from './restate.ts';
import { withTemporaryFolder } from './temporary-folder.ts';

/** One of the systems that are compared, each with durable storage. */
export interface Contender {
  readonly name: string;
  readonly durability: string;
  /** Whether a request without `Prefer: wait` is acknowledged when it is stored. */
  readonly hasReceipts: boolean;
  /** Measures calls inside one process, on an empty store. */
  measureLives(settings: LifeSettings): Promise<Life>;
  /** Starts a server on an empty store. */
  serve(folder: string, concurrency: number): Promise<EchoServer>;
}

/** A server whose URL runs the echo. */
export interface EchoServer extends ServerProcess {
  readonly headers: Headers;
}

export const SQLITE = 'patchboard sqlite';
export const POSTGRES = 'patchboard postgres';
const SYNCED = 'each commit is synced before the response';

export function contenders(databases: Databases, restate: RestateService | null): readonly Contender[] {
  const onPostgres = (name: string, peer: PeerName, durability: string): Contender =>
    peerContender(name, peer, durability, {
      pid: databases.pid,
      withAddress: async (use) => await databases.withDatabase(async (url) => await use({ address: url })),
      address: async () => ({ address: await databases.create() }),
    });
  return [
    ON_SQLITE,
    patchboardOnPostgres(databases),
    onPostgres('graphile-worker', 'graphile_worker', `PostgreSQL, ${SYNCED}; keeps no results`),
    onPostgres('pg-boss', 'pg_boss', `PostgreSQL, ${SYNCED}; keeps results`),
    onPostgres('DBOS', 'dbos', `PostgreSQL, ${SYNCED}; keeps the results of the step and of the workflow`),
    ...(restate === null ? [] : [restateContender(restate)]),
  ];
}

const ON_SQLITE: Contender = {
  name: SQLITE,
  durability:
    'SQLite WAL, synced before the response; keeps results, and hash-chained ledger rows in the same transaction',
  hasReceipts: true,
  measureLives: async (settings) =>
    await withTemporaryFolder(async (folder) => {
      const own: EngineSettings = { ...settings, folder, groupCommit: true };
      return await runScript<Life>('./arms/in-process.ts', own);
    }),
  serve: async (folder, concurrency) => await patchboardServer({ folder }, concurrency),
};

function patchboardOnPostgres(databases: Databases): Contender {
  return {
    name: POSTGRES,
    durability: `PostgreSQL, ${SYNCED}; keeps results, and hash-chained ledger rows in the same transaction`,
    hasReceipts: true,
    measureLives: async (settings) =>
      await withTemporaryFolder(
        async (folder) =>
          await databases.withDatabase(async (databaseUrl) => {
            const place = { folder, databaseUrl, serverPid: databases.pid };
            const own: EngineSettings = { ...settings, ...place, groupCommit: true };
            return await runScript<Life>('./arms/in-process.ts', own);
          }),
      ),
    serve: async (folder, concurrency) =>
      await patchboardServer({ folder, databaseUrl: await databases.create() }, concurrency),
  };
}

async function patchboardServer(place: StorePlace, concurrency: number): Promise<EchoServer> {
  await mkdir(place.folder, { recursive: true });
  // The tool must not wait for a slot.
  const limits = { concurrencyServer: concurrency, concurrencyPerTenant: concurrency };
  const settings: ServerSettings = { ...place, groupCommit: true, limits };
  const server = await startServer('./arms/patchboard.ts', settings);
  const headers = await createKey(server.url);
  return { ...server, url: `${server.url}/v1/tools/${ECHO_TOOL}/invoke`, headers };
}

type PeerAddress = Pick<PeerServerSettings, 'address' | 'ingress'>;

interface PeerPlace {
  readonly pid: number;
  withAddress<T>(use: (address: PeerAddress) => Promise<T>): Promise<T>;
  address(): Promise<PeerAddress>;
}

function peerContender(name: string, peer: PeerName, durability: string, place: PeerPlace): Contender {
  return {
    name,
    durability,
    hasReceipts: false,
    measureLives: async (settings) =>
      await place.withAddress(async (address) => {
        const own: PeerLivesSettings = { ...settings, ...address, peer, serverPid: place.pid };
        return await runScript<Life>('./arms/peer-lives.ts', own);
      }),
    serve: async (_folder, concurrency) => {
      const own: PeerServerSettings = { ...(await place.address()), peer, concurrency };
      return { ...(await startServer('./arms/peer-server.ts', own)), headers: {} };
    },
  };
}

function restateContender({ pid, admin, ingress }: RestateService): Contender {
  const address: PeerAddress = { address: admin, ingress };
  return peerContender(
    'Restate',
    'restate',
    'its own log, synced before the response; keeps results for a day',
    {
      pid,
      withAddress: async (use) => await use(address),
      address: () => Promise.resolve(address),
    },
  );
}
