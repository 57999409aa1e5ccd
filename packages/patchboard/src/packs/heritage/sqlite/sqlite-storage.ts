import { reason } from '@patchboard/wire';
import type { DatabaseSync } from 'node:sqlite';
import { failure, messageOf, StorageFull, ToolFailure } from '../../../core/failures.ts';
import type { SiteData, SiteScope } from '../records.ts';
import type { HeritageStorage } from '../storage.ts';
import { ContentTable } from './content-table.ts';
import { PeopleTables } from './people-tables.ts';
import { prepareDatabase } from './schema.ts';
import { SearchThread } from './search-thread.ts';
import { SiteTables } from './site-tables.ts';

/** Not a static import: that would fail on an older Node before `node-version.ts` can report the required version. */
const { DatabaseSync: Database } = process.getBuiltinModule('node:sqlite');

/** How long a write waits for an import by another process. */
const BUSY_TIMEOUT_MS = 500;

const SQLITE_BUSY = 5;
const SQLITE_LOCKED = 6;
const SQLITE_FULL = 13;

/** Opens the file of all tenants. Several processes may open it at once. */
export function sqliteHeritageStorage(file: string): HeritageStorage {
  const database = open(file);
  const sites = new SiteTables(database);
  const people = new PeopleTables(database);
  const contents = new ContentTable(database);
  const searches = new SearchThread(file, BUSY_TIMEOUT_MS);

  const read = <T>(work: () => T): Promise<T> => attempt(work);
  const write = <T>(work: () => T): Promise<T> =>
    attempt(() => inTransaction(database, work, () => contents.forgetIndexes()));
  const onSite = <T>(scope: SiteScope, work: (site: number) => T): Promise<T | undefined> =>
    read(() => {
      const site = sites.find(scope);
      return site === undefined ? undefined : work(site.no);
    });

  return {
    npcProfile: (scope, npcId, version) => onSite(scope, (site) => people.profile(site, npcId, version)),
    activePrompt: (scope, npcId, type) => onSite(scope, (site) => people.activePrompt(site, npcId, type)),
    search: (scope, query) => attempt(() => searches.search(scope, query)),
    siteMap: (scope) =>
      read(() => {
        const site = sites.find(scope);
        if (site === undefined) return undefined;
        return { name: site.name, pois: sites.pois(site.no), routes: sites.routes(site.no) };
      }),
    addContent: (scope, item) =>
      write(() => {
        const site = sites.ensure(scope, null);
        const existing = contents.find(site, item.id);
        if (existing === undefined) contents.put(site, item);
        return existing ?? item;
      }),
    addEvent: (scope, event) => write(() => sites.addEvent(sites.ensure(scope, null), event)),
    importSite: (scope, data) =>
      write(() => {
        const site = sites.ensure(scope, data.site_name);
        for (const item of data.contents) contents.put(site, item);
        for (const profile of data.npcs) people.putProfile(site, profile);
        for (const prompt of data.prompts) people.putPrompt(site, prompt);
        for (const poi of data.pois) sites.putPoi(site, poi);
        for (const route of data.routes) sites.putRoute(site, route);
      }),
    exportSite: (scope) =>
      read((): SiteData | undefined => {
        const site = sites.find(scope);
        if (site === undefined) return undefined;
        return {
          site_name: site.name,
          contents: contents.all(site.no),
          npcs: people.profiles(site.no),
          prompts: people.prompts(site.no),
          pois: sites.pois(site.no),
          routes: sites.routes(site.no),
        };
      }),
    close: async () => {
      await searches.close();
      database.close();
    },
  };
}

function open(file: string): DatabaseSync {
  const database = new Database(file, { timeout: BUSY_TIMEOUT_MS, defensive: true });
  try {
    prepareDatabase(database, file);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

function inTransaction<T>(database: DatabaseSync, work: () => T, onRollback: () => void): T {
  database.exec('begin immediate');
  try {
    const result = work();
    database.exec('commit');
    return result;
  } catch (error) {
    if (database.isTransaction) database.exec('rollback');
    onRollback();
    throw error;
  }
}

async function attempt<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw translated(error);
  }
}

/** Converts temporary errors to retryable failures, which the engine retries. */
function translated(error: unknown): unknown {
  const code = Number((error as { errcode?: unknown }).errcode) & 0xff;
  if (code === SQLITE_BUSY || code === SQLITE_LOCKED)
    return new ToolFailure(
      failure('upstream_unreachable', reason('heritage_busy', { error: messageOf(error) })),
    );
  if (code === SQLITE_FULL) return new StorageFull('the disk of the heritage data is full');
  return error;
}
