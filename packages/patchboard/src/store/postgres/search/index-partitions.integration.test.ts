import { describe, expect, it } from 'vitest';
import { POSTGRES_VERSIONS } from '../../../../test/services/postgres-binaries.ts';
import { aDatabase, type TestDatabase } from '../a-database.contract.ts';
import { ensureIndexPartitions, startOf } from '../partitions.ts';
import { IndexPartitions } from './index-partitions.ts';

const MONTH = 202_603;
const AFTER = startOf(202_605);

/** Adds calls of March, each of which ended a second later; those of `late` ended in June. */
async function addCalls(database: TestDatabase, count: number, late: readonly number[] = []): Promise<void> {
  const text = `insert into ${database.tables.indexed_calls}
    select $1::int8 + n, case when n = any($2::int[]) then $3::int8 else $1::int8 + n + 1000 end, 0, 0, 4, 'tc_' || n,
      'acme', 'run', 'agent', 'tool', null, null, null, null, '' from generate_series(1, $4::int) n`;
  await database.rows(text, [startOf(MONTH), late, startOf(202_606), count]);
}

async function months(database: TestDatabase): Promise<string[]> {
  const text = `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = $1::regclass and c.relname ~ '\\d$'`;
  const found = await database.rows<{ name: string }>(text, [database.tables.indexed_calls]);
  return found.map(({ name }) => name.slice(-6));
}

async function aMonth(database: TestDatabase): Promise<IndexPartitions> {
  const { schema, tables } = database;
  const parts = { connection: database.connect('index'), schema, tables };
  await ensureIndexPartitions(MONTH, parts);
  return new IndexPartitions(parts, 1);
}

describe.each(POSTGRES_VERSIONS)('the index partitions in PostgreSQL %i', (version) => {
  it('are dropped after a check page by page, between which the lease is renewed', async () => {
    const database = await aDatabase(version);
    const partitions = await aMonth(database);
    await addCalls(database, 500);
    let renewed = 0;
    await partitions.forget(AFTER, async () => void (renewed += 1));
    expect(await months(database)).toEqual([]);
    expect(renewed).toBeGreaterThan(2);
  });

  it.each([1, 250, 500])('stay while call %i of 500 ended later', async (late) => {
    const database = await aDatabase(version);
    const partitions = await aMonth(database);
    await addCalls(database, 500, [late]);
    await partitions.forget(AFTER, async () => {});
    expect(await months(database)).toEqual([String(MONTH)]);
  });

  it('stay if another node writes to the index during the check', async () => {
    const database = await aDatabase(version);
    const partitions = await aMonth(database);
    await addCalls(database, 500);
    const state = database.tables.index_state;
    await database.rows(`insert into ${state} values (1, 7, '', null, null, 0)`);
    await partitions.forget(AFTER, () => database.rows(`update ${state} set seq = seq + 1`));
    expect(await months(database)).toEqual([String(MONTH)]);
    await partitions.forget(AFTER, async () => {});
    expect(await months(database)).toEqual([]);
  });
});
