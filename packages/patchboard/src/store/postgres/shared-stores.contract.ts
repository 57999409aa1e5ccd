import { onTestFinished } from 'vitest';
import type { PostgresVersion } from '../../../test/services/postgres-binaries.ts';
import { aSchema, sharedPostgres } from '../../../test/services/shared-postgres.ts';
import type { NodeReport, NodeTable } from '../../cluster/node-table.ts';
import { storeOptions } from '../../../test/postgres/support/a-postgres-store.ts';
import { postgresStore, type PostgresStoreOptions } from './open.ts';
import type { PostgresStore } from './postgres-store.ts';
import { tablesIn, type Tables } from './schema.ts';

export const REPORT: NodeReport = {
  state: 'held',
  url: 'http://node.example',
  version: '1.0.0',
  fingerprint: 'f1',
  room: 10,
  calls: 0,
  revision: 0,
  follows: [],
};

export interface SharedStores {
  readonly tables: Tables;
  readonly options: PostgresStoreOptions;
  /** Opens the store of another node. Closed when the test has ended. `url`: another way to the same database. */
  readonly open: (url?: string) => Promise<{ readonly store: PostgresStore; readonly table: NodeTable }>;
}

/** A schema that several nodes share. */
export async function sharedStores(version: PostgresVersion): Promise<SharedStores> {
  const service = await sharedPostgres(version);
  const schema = aSchema(service);
  const options: PostgresStoreOptions = storeOptions(service.url, { schema, nodes: 'many' });
  const open = async (url = service.url): Promise<{ store: PostgresStore; table: NodeTable }> => {
    const store = await postgresStore({ ...options, url });
    onTestFinished(() => store.close());
    if (store.shared === null) throw new Error('the store is not shared');
    return { store, table: store.shared.table };
  };
  return { tables: tablesIn(schema), options, open };
}
