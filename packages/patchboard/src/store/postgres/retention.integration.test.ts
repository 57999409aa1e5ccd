import { describe, expect, it } from 'vitest';
import { POSTGRES_VERSIONS } from '../../../test/services/postgres-binaries.ts';
import type { Call } from '../../core/call/call.ts';
import { aCall, completed, failed, idsOf } from '../samples.contract.ts';
import { firstCallIdAt } from '../../runtime/ids.ts';
import { aDatabase, type TestDatabase } from './a-database.contract.ts';
import { ensurePartitions } from './partitions.ts';
import { Retention } from './retention.ts';
import type { SqlWriter } from './sql-writer.contract.ts';

const DAY_MS = 86_400_000;
const [SEPTEMBER, OCTOBER, NOVEMBER] = [8, 9, 10].map((month) => Date.UTC(2026, month, 10)) as [
  number,
  number,
  number,
];
const NOW = Date.UTC(2026, 10, 20);

/** The nth call of a day; it ends two milliseconds later, unless `end` says otherwise. */
function callOf(day: number, n: number, end: (call: Call) => Call = completed): Call {
  return end(aCall(n, { id: `${firstCallIdAt(day)}${String(n).padStart(4, '0')}`, createdAt: day + n }));
}

function retention(database: TestDatabase, url?: string): Retention {
  const { schema, tables, sequencer } = database;
  const connection = database.connect('maintenance', url);
  return new Retention({ connection, schema, tables, sequencer, firstIdAt: firstCallIdAt, now: () => NOW });
}

/** A database with partitions of three months. */
async function months(version: (typeof POSTGRES_VERSIONS)[number]): Promise<[TestDatabase, SqlWriter]> {
  const database = await aDatabase(version);
  const { schema, tables } = database;
  const connection = database.connect('partitions');
  for (const now of [SEPTEMBER, NOVEMBER])
    expect(await ensurePartitions({ connection, schema, tables, now, firstIdAt: firstCallIdAt })).toBeNull();
  return [database, await database.writer(1)];
}

async function listed({ lists }: TestDatabase): Promise<string[]> {
  return idsOf((await lists.listCalls({ tenant: 'acme' }, null, 100)).items);
}

async function hasMonth(database: TestDatabase, month: number): Promise<boolean> {
  const { tables } = database;
  const text = 'select to_regclass($1) is not null and to_regclass($2) is not null as found';
  const names = [tables.calls, tables.ended_calls].map((table) => `${table}_${month}`);
  return (await database.rows<{ found: boolean }>(text, names))[0]!.found;
}

describe.each(POSTGRES_VERSIONS)('purgeCalls in PostgreSQL %i', (version) => {
  it('drops a whole month with its keys, whatever the limit, and keeps the ledger and the counts right', async () => {
    const [database, writer] = await months(version);
    const { tables } = database;
    const old = [callOf(SEPTEMBER, 1), callOf(SEPTEMBER, 2, failed), callOf(SEPTEMBER + DAY_MS, 3)];
    const recent = [callOf(OCTOBER, 4), callOf(NOVEMBER, 5), callOf(NOVEMBER, 6, (call) => call)];
    await writer.write({ calls: [...old, ...recent] });
    const keys = [...old, ...recent].map(({ id }) => `('key ${id}', '${id}', 'b', 0, ${NOW + DAY_MS})`);
    await database.rows(`insert into ${tables.idempotency} values ${keys.join(', ')}`);
    const purge = retention(database);
    expect(await purge.purgeCalls(OCTOBER, 1)).toBe(3);
    expect(await hasMonth(database, 202_609)).toBe(false);
    expect(await listed(database)).toEqual(idsOf(recent.toReversed()));
    expect(await database.counts.countByState()).toEqual({ PENDING: 1, COMPLETED: 2 });
    const left = await database.rows<{ call_id: string }>(
      `select call_id from ${tables.idempotency} order by 1`,
    );
    expect(left.map((row) => row.call_id)).toEqual(idsOf(recent));
    expect((await database.ledger.head()).seq).toBe(16);
    expect(await purge.purgeCalls(OCTOBER, 1)).toBe(0);
    expect(await purge.purgeCalls(OCTOBER + DAY_MS, 10)).toBe(1);
    expect(await hasMonth(database, 202_610)).toBe(true);
  });

  it.each([
    ['an open call', callOf(SEPTEMBER, 9, (call) => call)],
    ['a call that ended later', callOf(SEPTEMBER, 9, (call) => completed(call, OCTOBER + DAY_MS))],
  ])('keeps the month of %s, and deletes the other calls one by one', async (_, kept) => {
    const [database, writer] = await months(version);
    await writer.write({ calls: [1, 2, 3].map((n) => callOf(SEPTEMBER, n)) });
    await writer.write({ calls: [kept] });
    const purge = retention(database);
    expect(await purge.purgeCalls(OCTOBER, 2)).toBe(2);
    expect(await listed(database)).toEqual([kept.id, callOf(SEPTEMBER, 3).id]);
    expect(await purge.purgeCalls(OCTOBER, 2)).toBe(1);
    expect(await hasMonth(database, 202_609)).toBe(true);
    expect(await listed(database)).toEqual([kept.id]);
  });

  it('keeps to the limit if the time is not past, because then the number of calls is limited', async () => {
    const [database, writer] = await months(version);
    await writer.write({ calls: [1, 2, 3].map((n) => callOf(SEPTEMBER, n)) });
    for (const before of [8.64e15, Infinity]) expect(await retention(database).purgeCalls(before, 1)).toBe(1);
    expect(await listed(database)).toEqual([callOf(SEPTEMBER, 3).id]);
  });

  it('deletes calls one by one while a long read uses the table', async () => {
    const [database, writer] = await months(version);
    await writer.write({ calls: [1, 2, 3].map((n) => callOf(SEPTEMBER, n)) });
    const purged = await database.connect('long read').transaction(async (transaction) => {
      await transaction.query({ name: 'read', text: `select id from ${database.tables.calls}` });
      return await retention(database).purgeCalls(OCTOBER, 2);
    });
    expect(purged).toBe(2);
    expect(await hasMonth(database, 202_609)).toBe(true);
    expect(await database.counts.countByState()).toEqual({ COMPLETED: 1 });
  });

  it('deletes calls one by one for a role that may not drop tables', async () => {
    const [database, writer] = await months(version);
    await writer.write({ calls: [1, 2, 3].map((n) => callOf(SEPTEMBER, n)) });
    const role = await database.addRole();
    expect(await retention(database, role).purgeCalls(OCTOBER, 2)).toBe(2);
    expect(await hasMonth(database, 202_609)).toBe(true);
  });

  it('counts each call once when several processes delete at once', async () => {
    const [database, writer] = await months(version);
    await writer.write({ calls: [1, 2, 3].map((n) => callOf(SEPTEMBER, n)) });
    await writer.write({ calls: Array.from({ length: 40 }, (_, n) => callOf(OCTOBER, n)) });
    const purged = await Promise.all([1, 2, 3].map(() => retention(database).purgeCalls(NOVEMBER, 1000)));
    const rest = (await database.counts.countByState()).COMPLETED ?? 0;
    expect(purged.reduce((sum, calls) => sum + calls, 0)).toBe(43 - rest);
    expect(await listed(database)).toHaveLength(rest);
  });

  it('deletes expired keys whose call is gone', async () => {
    const [database, writer] = await months(version);
    await writer.write({ calls: [callOf(NOVEMBER, 1)] });
    const gone = callOf(NOVEMBER, 2).id;
    const { idempotency } = database.tables;
    await database.rows(`insert into ${idempotency} values
      ('expired', '${gone}', 'b', 0, ${NOW}), ('of a call', '${callOf(NOVEMBER, 1).id}', 'b', 0, ${NOW}),
      ('not expired', '${gone}', 'b', 0, ${NOW + 1})`);
    await retention(database).purgeCalls(OCTOBER, 10);
    expect(await database.rows(`select scope from ${idempotency} order by 1`)).toEqual([
      { scope: 'not expired' },
      { scope: 'of a call' },
    ]);
  });
});
