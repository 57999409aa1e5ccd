import type pg from 'pg';
import { connectClient } from '../postgres/client.ts';
import { connectionOptions } from '../postgres/connection-options.ts';
import { canReadStore, ownStoreIn, type OwnStore } from '../postgres/own-store.ts';
import { ConfigError } from '../settings/config-file.ts';
import type { Settings } from '../settings/settings.ts';

/**
 * Resolves to the store in PostgreSQL that `database.query` must not read; null if the store is SQLite. Throws a
 * `ConfigError` if the configured role can read it. A database that cannot be reached now is checked with each query.
 */
export async function ownStoreOf({ store, queryDatabase }: Settings): Promise<OwnStore | null> {
  if (store.kind === 'sqlite') return null;
  const own = await withClient(store.url, (client) => ownStoreIn(client, store.schema));
  if (queryDatabase !== null && (await isReadableFrom(queryDatabase, own)))
    throw new ConfigError(
      `tools.database.query.database leads to the server's own store, which no tool may read: use a role without privileges on the schema ${store.schema}, or another database`,
    );
  return own;
}

async function isReadableFrom(address: string, own: OwnStore): Promise<boolean> {
  if (!/^postgres(?:ql)?:/i.test(address)) return false;
  try {
    return await withClient(address, (client) => canReadStore(client, own));
  } catch {
    // Not reachable now, or a bad URL, which the tool reports itself.
    return false;
  }
}

async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = await connectClient(connectionOptions(url), 'own store');
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
