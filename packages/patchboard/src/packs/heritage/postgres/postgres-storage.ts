import { reason } from '@patchboard/wire';
import { failure, messageOf, StorageFull, StorageUnavailable, ToolFailure } from '../../../core/failures.ts';
import { connectClient } from '../../../postgres/client.ts';
import { Connection, type Transaction } from '../../../postgres/connection.ts';
import { connectionOptions } from '../../../postgres/connection-options.ts';
import { isDiskFull, isTransient } from '../../../postgres/sql-errors.ts';
import type { SiteData } from '../records.ts';
import type { HeritageStorage } from '../storage.ts';
import { ContentRecords } from './content-records.ts';
import { searchContents } from './content-search.ts';
import { heritageTables, migrateHeritage } from './schema.ts';
import { SiteRecords } from './site-records.ts';

export interface PostgresHeritageOptions {
  readonly url: string;
  /** That of the store; the tables of the heritage data have a prefix. */
  readonly schema: string;
  /** False behind a pooler that gives each transaction another connection. */
  readonly prepare: boolean;
}

const OPEN_MS = 5000;

/** Opens the data of all tenants. Several processes may do so at once. Rejects if the database cannot be used. */
export async function postgresHeritageStorage(given: PostgresHeritageOptions): Promise<HeritageStorage> {
  const options = connectionOptions(given.url);
  const { schema, prepare } = given;
  const connect = (name: string): Connection => new Connection({ options, name, prepare });
  /** Other statements on the same connection would become part of a transaction, so each has a connection of its own. */
  const inTransaction = async <T>(work: (transaction: Transaction) => Promise<T>): Promise<T> => {
    const connection = connect('heritage import');
    try {
      return await connection.transaction(work);
    } finally {
      await connection.close();
    }
  };
  // A search of many contents takes longer than other statements, which would wait for it.
  const [database, searches] = [connect('heritage'), connect('heritage search')];
  try {
    await database.open(OPEN_MS);
    await inTransaction((transaction) => migrateHeritage(transaction, schema));
  } catch (error) {
    await database.close();
    throw error;
  }
  const tables = heritageTables(schema);
  const sites = new SiteRecords(tables);
  const contents = new ContentRecords(tables);

  return {
    npcProfile: (scope, npcId, version) => attempt(() => sites.profile(database, scope, npcId, version)),
    activePrompt: (scope, npcId, type) => attempt(() => sites.activePrompt(database, scope, npcId, type)),
    search: (scope, query) => attempt(() => searchContents(searches, tables, scope, query)),
    siteMap: (scope) => attempt(() => sites.map(database, scope)),
    addContent: (scope, item) =>
      attempt(async () => await contents.add(database, await sites.ensure(database, scope, null), item)),
    addEvent: (scope, event) =>
      attempt(async () => await sites.addEvent(database, await sites.ensure(database, scope, null), event)),
    importSite: (scope, data) =>
      attempt(() =>
        inTransaction(async (transaction) => {
          const site = await sites.ensure(transaction, scope, data.site_name);
          await contents.put(transaction, site, data.contents);
          for (const profile of data.npcs) await sites.putProfile(transaction, site, profile);
          for (const prompt of data.prompts) await sites.putPrompt(transaction, site, prompt);
          for (const poi of data.pois) await sites.put(transaction, 'pois', site, poi);
          for (const route of data.routes) await sites.put(transaction, 'routes', site, route);
        }),
      ),
    exportSite: (scope) =>
      attempt(() =>
        inTransaction(async (transaction): Promise<SiteData | undefined> => {
          // All statements read the state of one moment.
          await transaction.query({
            name: 'heritage_snapshot',
            text: 'set transaction isolation level repeatable read, read only',
          });
          const [site, map] = [await sites.find(transaction, scope), await sites.map(transaction, scope)];
          if (site === undefined || map === undefined) return undefined;
          return {
            site_name: site.name,
            contents: await contents.all(transaction, site.no),
            npcs: await sites.profiles(transaction, site.no),
            prompts: await sites.prompts(transaction, site.no),
            pois: map.pois,
            routes: map.routes,
          };
        }),
      ),
    close: async () => void (await Promise.all([database.close(), searches.close()])),
  };
}

/** Resolves to whether the database contains heritage data, and creates nothing. */
export async function hasPostgresHeritage({
  url,
  schema,
}: Pick<PostgresHeritageOptions, 'url' | 'schema'>): Promise<boolean> {
  const client = await connectClient(connectionOptions(url), 'heritage');
  try {
    const { rows } = await client.query<{ found: boolean }>('select to_regclass($1) is not null as found', [
      heritageTables(schema).meta,
    ]);
    return rows[0]?.found === true;
  } finally {
    await client.end();
  }
}

async function attempt<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (isDiskFull(error)) throw new StorageFull('the disk of the heritage data is full');
    // A retryable failure, which the engine retries.
    if (isTransient(error) || error instanceof StorageUnavailable)
      throw new ToolFailure(
        failure('upstream_unreachable', reason('heritage_busy', { error: messageOf(error) })),
      );
    throw error;
  }
}
