import { mkdir } from 'node:fs/promises';
import { ECHO_TOOL } from './arms/bench-pack.ts';
import type { StorePlace } from './arms/bench-settings.ts';
import type { EngineSettings } from './arms/in-process.ts';
import type { Life, LifeSettings } from './arms/lives.ts';
import type { ServerSettings } from './arms/patchboard.ts';
import { runScript, startServer, type ServerProcess } from './child.ts';
import type { Databases } from './databases.ts';
import type { ComparedPeer } from './figure.ts';
import type { Headers } from './http.ts';
import { createKey } from './key.ts';
import { dbos, graphileWorker, pgBoss, restateServer } from './peer-contenders.ts';
import type { RestateService } from './restate.ts';
import { withTemporaryFolder } from './temporary-folder.ts';

/** One of the systems that are compared, each with durable storage. */
export interface Contender {
  readonly name: string;
  readonly durability: string;
  readonly peer?: ComparedPeer;
  /** The process of the separate server that stores, if there is one. */
  readonly storePid?: number;
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

/** A package that a user would pick instead. */
export interface PeerContender extends Contender {
  readonly peer: ComparedPeer;
}

export const SQLITE = 'patchboard sqlite';
export const POSTGRES = 'patchboard postgres';
const KEPT =
  'synced before the response; keeps results, and hash-chained ledger rows in the same transaction';

/** Patchboard on PostgreSQL and on SQLite, and what other systems run on PostgreSQL or on their own log. */
export function contendersOnPostgres(
  databases: Databases,
  restate: RestateService | null,
): readonly Contender[] {
  return [
    patchboardOnSqlite(true),
    patchboardOnPostgres(databases),
    graphileWorker(databases),
    pgBoss(databases),
    dbos(databases),
    ...(restate === null ? [] : [restateServer(restate)]),
  ];
}

/** Without group commit each change has its own transaction. */
export function patchboardOnSqlite(groupCommit: boolean): Contender {
  return {
    name: groupCommit ? SQLITE : 'one transaction per change',
    durability: `SQLite WAL, ${KEPT}`,
    hasReceipts: true,
    measureLives: async (settings) =>
      await withTemporaryFolder(async (folder) => {
        const own: EngineSettings = { ...settings, folder, groupCommit };
        return await runScript<Life>('./arms/in-process.ts', own);
      }),
    serve: async (folder, concurrency) => await patchboardServer({ folder }, concurrency),
  };
}

function patchboardOnPostgres(databases: Databases): Contender {
  return {
    name: POSTGRES,
    durability: `PostgreSQL, ${KEPT}`,
    storePid: databases.pid,
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
