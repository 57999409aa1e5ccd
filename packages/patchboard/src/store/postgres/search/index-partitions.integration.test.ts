import { describe, expect, it, onTestFinished } from 'vitest';
import { aSession } from '../../../../test/postgres/support/a-postgres-store.ts';
import { POSTGRES_VERSIONS } from '../../../../test/services/postgres-binaries.ts';
import { connectionOptions } from '../../../postgres/connection-options.ts';
import { Connection } from '../../../postgres/connection.ts';
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

  it('stay while another session locks them, and the rest is forgotten', async () => {
    const database = await aDatabase(version);
    await aMonth(database);
    await addCalls(database, 500);
    const { schema, tables, service } = database;
    await database.rows(
      `insert into ${tables.indexed_refusals} values (1, 1, 'acme', 'bot', 'tool', 'code', null, 0, '')`,
    );
    const session = await aSession(service.url);
    await session.query(`begin; lock table ${tables.indexed_calls}_${MONTH} in access exclusive mode`);
    const connection = new Connection({
      options: connectionOptions(service.url),
      name: 'index',
      prepare: true,
      settings: { lock_timeout: '100ms' },
    });
    onTestFinished(() => connection.close());
    await new IndexPartitions({ connection, schema, tables }, 1).forget(AFTER, async () => {});
    expect(await database.rows(`select 1 from ${tables.indexed_refusals}`)).toEqual([]);
    await session.query('commit');
    expect(await months(database)).toEqual([String(MONTH)]);
  });
});
