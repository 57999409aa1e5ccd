import { expect, it, onTestFinished } from 'vitest';
import { waitFor } from '../../../../test/support/wait-for.ts';
import type { FoundCall } from '../../../core/search/call-search.ts';
import { connectionOptions } from '../../../postgres/connection-options.ts';
import { Connection } from '../../../postgres/connection.ts';
import { insertAll } from '../../samples.contract.ts';
import { aBatch, aRefusal, endedCalls } from '../../search-samples.contract.ts';
import { aDatabase, type TestDatabase } from '../a-database.contract.ts';
import { postgresStore } from '../open.ts';
import type { PostgresStore } from '../postgres-store.ts';
import { tablesIn } from '../schema.ts';
import { sharedStores } from '../shared-stores.contract.ts';
import { PostgresCallSearch } from './call-search.ts';
import { PostgresIndexWriter } from './index-writer.ts';

const NEWEST = { by: 'created', isAscending: false } as const;

function writerOf(
  database: TestDatabase,
  holder: string,
  connection = database.connect(holder),
): PostgresIndexWriter {
  const { schema, tables } = database;
  return new PostgresIndexWriter({ connection, schema, tables, now: Date.now, holder });
}

/** As the store has it: the statements are not prepared. */
function searchOf({ service, tables }: TestDatabase): PostgresCallSearch {
  const options = connectionOptions(service.url);
  const connection = new Connection({ options, name: 'search', prepare: false });
  onTestFinished(() => connection.close());
  return new PostgresCallSearch(connection, tables);
}

it('passes the lease to another process when its holder is gone, and refuses what the holder still writes', async () => {
  const database = await aDatabase(15);
  const search = searchOf(database);
  const [first, second] = [writerOf(database, 'first'), writerOf(database, 'second')];
  const calls = endedCalls(12).map((call) => ({ ...call, tenant: 'acme' }));
  expect(await first.acquireLease()).toMatchObject({ seq: 0 });
  expect(await second.acquireLease()).toBeNull();
  expect(await first.apply(aBatch(0, calls.slice(0, 5)))).toBe(true);
  expect(await second.apply(aBatch(5, calls.slice(5)))).toBe(false);

  await database.rows(
    `update ${database.tables.index_state} set held_until = clock_timestamp() returning one`,
  );
  expect(await second.acquireLease()).toEqual({ seq: 5, hash: 'hash 5' });
  expect(await first.apply(aBatch(5, calls.slice(5)))).toBe(false);
  expect(await first.acquireLease()).toBeNull();
  await first.release();
  await first.clear();
  expect(await second.apply(aBatch(5, calls.slice(5)))).toBe(true);
  expect(await search.position()).toBe(12);
  expect(await search.find({ tenant: 'acme' }, NEWEST, null, 100)).toHaveLength(12);

  await second.release();
  expect(await first.acquireLease()).toEqual({ seq: 12, hash: 'hash 12' });
});

it('applies a batch once if the reply to its commit is lost', async () => {
  const database = await aDatabase(15);
  const search = searchOf(database);
  const connection = database.connect('index');
  // As `Connection.transaction`, which repeats a transaction after the connection was lost.
  const repeating: Pick<Connection, 'query' | 'transaction'> = {
    query: (statement, values) => connection.query(statement, values),
    transaction: async (work) => {
      await connection.transaction(work);
      return await connection.transaction(work);
    },
  };
  const writer = writerOf(database, 'only', repeating as Connection);
  await writer.acquireLease();
  const calls = endedCalls(9);
  const zero = aRefusal(10, { toolName: 'a\0b', message: '\0', unrecorded: 3 });
  expect(await writer.apply(aBatch(0, calls, [zero]))).toBe(true);
  expect(await search.find({ tenant: 'acme' }, NEWEST, null, 100)).toHaveLength(8);
  expect(await search.refusals({ tenant: 'acme' }, null, 10)).toMatchObject([{ toolName: 'a\uFFFDb' }]);
  const all = { tenant: null, since: 0, until: 9e12, stepMs: 86_400_000, by: null };
  expect(await search.metrics(all, 1)).toMatchObject({ series: [{ count: 9 + 4 }] });
  expect(await writer.apply(aBatch(10, []))).toBe(true);
});

it('forgets calls and refusals in a schema with the longest name', async () => {
  const database = await aDatabase(15);
  const schema = database.schema.padEnd(63, '_');
  await database.rows(`alter schema ${database.schema} rename to ${schema}`);
  onTestFinished(async () => void (await database.rows(`drop schema ${schema} cascade`)));
  const [connection, tables] = [database.connect('index'), tablesIn(schema)];
  const writer = new PostgresIndexWriter({ connection, schema, tables, now: Date.now, holder: 'only' });
  await writer.acquireLease();
  await writer.apply(aBatch(0, endedCalls(9), [aRefusal(10)]));
  await writer.forget(Date.now());
  const counts = await database.rows(`select (select count(*) from ${tables.indexed_calls}) as calls,
    (select count(*) from ${tables.indexed_refusals}) as refusals`);
  expect(counts).toEqual([{ calls: 0, refusals: 0 }]);
});

it('writes the index behind the commits of all nodes, from one node at a time', async () => {
  const { options } = await sharedStores(15);
  const open = async (): Promise<PostgresStore> => {
    const store = await postgresStore(options);
    store.startIndex(null);
    onTestFinished(() => store.close());
    return store;
  };
  const [one, two] = [await open(), await open()];
  const calls = endedCalls(30).map((call) => ({ ...call, tenant: 'acme' }));
  const isComplete = async (count: number): Promise<void> => {
    const { seq } = await one.ledgerHead();
    for (const store of [one, two]) {
      expect(await store.search.position()).toBe(seq);
      expect(await store.search.find({ tenant: 'acme' }, NEWEST, null, 100)).toHaveLength(count);
    }
  };
  await insertAll(one, calls.slice(0, 10));
  await insertAll(two, calls.slice(10, 20));
  await waitFor(() => isComplete(20));
  await one.close();
  await insertAll(two, calls.slice(20));
  await waitFor(async () =>
    expect(await two.search.find({ tenant: 'acme', texts: ['oslo'] }, NEWEST, null, 100)).toHaveLength(8),
  );
  expect(await two.search.position()).toBe((await two.ledgerHead()).seq);
});

it('finds calls that are older than the rows which are read in order of time', async () => {
  const database = await aDatabase(15);
  const { tables } = database;
  const count = 9000;
  await database.rows(`insert into ${tables.indexed_calls} (created_at, ended_at, waited_ms, ran_ms, state, id, tenant,
      run_id, agent_id, tool_name, words)
    select 1000 + n / 3, 2000 + n, 0, n, 4, 'tc_' || lpad(n::text, 6, '0'), 'acme', 'run', 'agent',
      case when n % 1500 = 7 then 'rare' else 'tool' end, case when n % 1500 = 7 then 'a:1 b:2' else 'b:1 a:2' end::tsvector
    from generate_series(1, ${count}) n`);
  const search = searchOf(database);
  const rare = [7, 1507, 3007, 4507, 6007, 7507].map((n) => `tc_${String(n).padStart(6, '0')}`);
  const ids = async (criteria: object, isAscending: boolean, limit: number): Promise<string[]> => {
    const found: string[] = [];
    for (let after: FoundCall | null = null; ;) {
      const sort = { by: 'created', isAscending } as const;
      const page = await search.find({ tenant: 'acme', ...criteria }, sort, after, limit);
      found.push(...page.map(({ id }) => id));
      after = page.at(-1) ?? null;
      if (after === null) return found;
    }
  };
  for (const criteria of [{ toolName: 'rare' }, { texts: ['a b'] }]) {
    expect(await ids(criteria, true, 100)).toEqual(rare);
    expect(await ids(criteria, false, 100)).toEqual(rare.toReversed());
    expect(await ids(criteria, false, 2)).toEqual(rare.toReversed());
  }
  const all = await ids({}, false, 1000);
  expect(all).toHaveLength(count);
  expect(all).toEqual(all.toSorted().toReversed());
});
