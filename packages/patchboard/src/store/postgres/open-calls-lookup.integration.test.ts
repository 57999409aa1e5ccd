import { expect, it } from 'vitest';
import { storeOptions } from '../../../test/postgres/support/a-postgres-store.ts';
import { aCall, aRecord, completed, rowsOf } from '../samples.contract.ts';
import { aSchema, sharedPostgres } from '../../../test/services/shared-postgres.ts';
import { waitFor } from '../../../test/support/wait-for.ts';
import { PAGE_CHARACTERS } from '../../core/call/call-size.ts';
import { connectionOptions } from '../../postgres/connection-options.ts';
import { Connection, type Queryable } from '../../postgres/connection.ts';
import { CallReader } from './call-reader.ts';
import { postgresStore } from './open.ts';
import { tablesIn } from './schema.ts';

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

it('reads large open calls in parts of the size of a page, not all at once', async () => {
  const service = await sharedPostgres(15);
  const schema = aSchema(service);
  const { url } = service;
  const store = await postgresStore(storeOptions(url, { schema }));
  const argsJson = JSON.stringify({ text: 'x'.repeat(1_000_000) });
  for (let n = 0; n < CALLS; n += 1) await store.insertCall(aRecord(aCall(n, { argsJson })));
  await store.close();
  const connection = new Connection({ options: connectionOptions(url), name: 'test', prepare: true });
  const sizes: number[] = [];
  const reader: Queryable = {
    query: async <Row extends object>(...given: Parameters<Queryable['query']>) => {
      const result = await connection.query<Row>(...given);
      sizes.push(JSON.stringify(result.rows).length);
      return result;
    },
  };
  try {
    const calls = new CallReader({ reader, tables: tablesIn(schema) });
    const { tenant } = aCall(0);
    const found: string[] = [];
    for await (const call of calls.openCallsOf({ tenant })) found.push(call.id);
    expect(found).toEqual(Array.from({ length: CALLS }, (_, n) => aCall(n).id));
    // A part ends with the call that reaches the size.
    expect(Math.max(...sizes)).toBeLessThan(1.5 * PAGE_CHARACTERS);
  } finally {
    await connection.close();
  }
});
