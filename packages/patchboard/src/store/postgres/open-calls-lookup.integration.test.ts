import { expect, it } from 'vitest';
import { storeOptions } from '../../../test/postgres/support/a-postgres-store.ts';
import { aCall, aRecord, completed, rowsOf } from '../samples.contract.ts';
import { aSchema, sharedPostgres } from '../../../test/services/shared-postgres.ts';
import { waitFor } from '../../../test/support/wait-for.ts';
import { connectionOptions } from '../../postgres/connection-options.ts';
import { Connection } from '../../postgres/connection.ts';
import { postgresStore } from './open.ts';

const CALLS = 24;

interface Scans {
  readonly deleted: number;
  readonly scans: number;
}

it('ends calls by their key: a scan would read all rows of ended calls that are not vacuumed yet', async () => {
  const service = await sharedPostgres(15);
  const schema = aSchema(service);
  const { url } = service;
  const store = await postgresStore(storeOptions(url, { schema }));
  // A prepared statement has its final plan after five executions.
  for (let n = 0; n < CALLS; n += 1) {
    const call = aCall(n);
    await store.insertCall(aRecord(call));
    await store.replaceCall(completed(call), call.version, rowsOf(completed(call), 1));
  }
  await store.close();
  const reader = new Connection({ options: connectionOptions(url), name: 'test', prepare: true });
  const text = `select n_tup_del as deleted, seq_scan as scans from pg_stat_user_tables
    where schemaname = $1 and relname = 'open_calls'`;
  try {
    // A session reports its counts when it ends.
    const ended = await waitFor(async () => {
      const { rows } = await reader.query<Scans>({ name: 'scans', text }, [schema]);
      const [found] = rows;
      if (found?.deleted !== CALLS) throw new Error('not all counts are reported yet');
      return found;
    });
    // Making the table and opening the store take a few.
    expect(ended.scans).toBeLessThan(CALLS / 2);
  } finally {
    await reader.close();
  }
});
