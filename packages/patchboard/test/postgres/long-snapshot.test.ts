import { expect, it } from 'vitest';
import { SWEEP_LIMIT, SWEEP_WINDOW_MS } from '../../src/cluster/timing.ts';
import { nodeStatements } from '../../src/store/postgres/node-statements.ts';
import type { PostgresStore } from '../../src/store/postgres/postgres-store.ts';
import { tablesIn } from '../../src/store/postgres/schema.ts';
import { aCall, aRecord, completed, insertAll, rowsOf, START } from '../../src/store/samples.contract.ts';
import { aSchema, sharedPostgres } from '../services/shared-postgres.ts';
import { aPostgresStore, aSession } from './support/a-postgres-store.ts';

const service = await sharedPostgres(15);
const CALLS = 20_000;
const AT_ONCE = 500;
/** A page of the index and one of the table, with some room for another level. */
const FEW_BLOCKS = 5;

async function makeCalls(store: PostgresStore): Promise<void> {
  for (let first = 1; first <= CALLS; first += AT_ONCE) {
    const calls = Array.from({ length: AT_ONCE }, (_, index) => aCall(first + index));
    await Promise.all(
      calls.map(async (call) => {
        await store.insertCall(aRecord(call));
        const done = completed(call);
        await store.replaceCall(done, 1, rowsOf(done, 1));
      }),
    );
    await store.ledgerHead();
  }
}

/** What a node sends to claim overdue calls of others, an hour after those of the test had their deadlines. */
function sweepOf(schema: string): string {
  const before = START + 3_600_000;
  const values = ['2', '1', String(before - SWEEP_WINDOW_MS), String(before), String(SWEEP_LIMIT), 'null'];
  const { text } = nodeStatements(tablesIn(schema)).claimOverdue;
  return text.replaceAll(/\$(\d)/g, (_, number: string) => values[Number(number) - 1] ?? '');
}

it('reads and writes touch as many blocks after 20,000 calls as before, while an old snapshot keeps every dead row', async () => {
  const schema = aSchema(service);
  const store = await aPostgresStore(service.url, { schema });
  await insertAll(store, [aCall(0)]);
  const [other, session] = [await aSession(service.url), await aSession(service.url)];
  await other.query(`begin isolation level repeatable read; select from ${schema}.open_calls`);
  await makeCalls(store);
  const blocks = async (text: string): Promise<number> => {
    const { rows } = await session.query<{ 'QUERY PLAN': [{ Plan: Record<string, number> }] }>(
      `explain (analyze, buffers, format json) ${text}`,
    );
    const plan = rows[0]?.['QUERY PLAN'][0].Plan ?? {};
    return (plan['Shared Hit Blocks'] ?? NaN) + (plan['Shared Read Blocks'] ?? NaN);
  };
  const lookups = {
    'an open call': `select * from ${schema}.open_calls where id = '${aCall(0).id}'`,
    'an ended call among the open ones': `select * from ${schema}.open_calls where id = '${aCall(CALLS).id}'`,
    'the head of the ledger': `select * from ${schema}.ledger_head`,
    'the writer': `select * from ${schema}.writers where writer = 1`,
    'the totals': `select * from ${schema}.totals where tenant = 'acme'`,
    'a sweep of overdue calls': sweepOf(schema),
    'the last segment': `select * from ${schema}.segments where writer = 1 order by no desc limit 1`,
  };
  for (const [what, text] of Object.entries(lookups))
    expect(await blocks(text), what).toBeLessThanOrEqual(FEW_BLOCKS);
  // A list of the open calls passes the dead rows, until the snapshot ends.
  const list = `select id from ${schema}.open_calls where id > '' order by id limit 500`;
  expect(await blocks(list)).toBeLessThan(CALLS / 20);
  await other.query('commit');
  await session.query(`vacuum ${schema}.open_calls`);
  expect(await blocks(list)).toBeLessThanOrEqual(FEW_BLOCKS);
});
