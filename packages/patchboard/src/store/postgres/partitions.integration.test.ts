import { describe, expect, it } from 'vitest';
import { POSTGRES_VERSIONS } from '../../../test/services/postgres-binaries.ts';
import { aCall, anEntry, completed } from '../samples.contract.ts';
import { firstCallIdAt } from '../../runtime/ids.ts';
import { aDatabase, type TestDatabase } from './a-database.contract.ts';
import { ensurePartitions } from './partitions.ts';

const NOVEMBER = Date.UTC(2026, 10, 16, 12);
const DAY_MS = 86_400_000;

async function partitionsOf(database: TestDatabase): Promise<Record<string, string[]>> {
  const { tables } = database;
  const parents = { ledger: tables.ledger, calls: tables.calls, ended_calls: tables.ended_calls };
  const found: Record<string, string[]> = {};
  for (const [name, parent] of Object.entries(parents)) {
    const text = `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
      where i.inhparent = $1::regclass order by c.relname`;
    found[name] = (await database.rows<{ name: string }>(text, [parent])).map((row) =>
      row.name.slice(name.length + 1),
    );
  }
  return found;
}

function ensure(database: TestDatabase, now: number, url?: string): Promise<string | null> {
  const { schema, tables } = database;
  const connection = database.connect('maintenance', url);
  return ensurePartitions({ connection, schema, tables, now, firstIdAt: firstCallIdAt });
}

describe.each(POSTGRES_VERSIONS)('ensurePartitions in PostgreSQL %i', (version) => {
  it('makes this month and the next one once, from several processes at once, also over the turn of the year', async () => {
    const database = await aDatabase(version);
    const both = (...months: string[]): Record<string, string[]> => {
      const names = [...months, 'default'];
      return { ledger: names, calls: names, ended_calls: names };
    };
    expect(await Promise.all([1, 2, 3, 4].map(() => ensure(database, NOVEMBER)))).toEqual(
      Array.from({ length: 4 }, () => null),
    );
    expect(await partitionsOf(database)).toEqual(both('202611', '202612'));
    expect(await ensure(database, NOVEMBER + DAY_MS)).toBeNull();
    expect(await partitionsOf(database)).toEqual(both('202611', '202612'));
    expect(await ensure(database, NOVEMBER + 30 * DAY_MS)).toBeNull();
    expect(await partitionsOf(database)).toEqual(both('202611', '202612', '202701'));
  });

  it('makes partitions that take the rows of their month, with the indexes and the protection of the ledger', async () => {
    const database = await aDatabase(version);
    const { tables } = database;
    await ensure(database, NOVEMBER);
    const writer = await database.writer(1);
    const times = [NOVEMBER - 60 * DAY_MS, NOVEMBER, NOVEMBER + 20 * DAY_MS];
    for (const [index, createdAt] of times.entries()) {
      const call = completed(aCall(index, { id: `${firstCallIdAt(createdAt)}0000`, createdAt }));
      await writer.write({ calls: [call], period: [202_609, 202_611, 202_612][index]! });
    }
    for (const table of [tables.calls, tables.ended_calls, tables.ledger]) {
      const rows = await database.rows<{ name: string }>(
        `select distinct (select relname from pg_class where oid = t.tableoid) as name from ${table} t order by 1`,
      );
      expect(rows.map(({ name }) => /[^_]+$/.exec(name)?.[0])).toEqual(['202611', '202612', 'default']);
    }
    for (const change of [
      `update ${tables.ledger} set body = '{}' returning no`,
      `delete from ${tables.ledger}`,
    ])
      await expect(database.rows(change)).rejects.toThrow('rows of the ledger are never changed');
    const indexes = await database.rows<{ name: string }>(
      `select indexrelid::regclass::text as name from pg_index where indrelid = $1::regclass`,
      [`${tables.calls}_202611`],
    );
    expect(indexes).toHaveLength(3);
  });

  it('returns the problem of a role that may not create tables; rows are written all the same', async () => {
    const database = await aDatabase(version);
    const { tables } = database;
    const problem = await ensure(database, NOVEMBER, await database.addRole());
    expect(problem).toMatch(/the partition .*ledger_202611 cannot be made: permission denied/);
    await (await database.writer(1)).write({ entries: [anEntry()], period: 202_611 });
    expect(await database.rows(`select no from ${tables.ledger}_default`)).toEqual([{ no: 1 }]);
  });

  it('returns the problem of a month whose rows are in the default partition, and makes the others', async () => {
    const database = await aDatabase(version);
    await (await database.writer(1)).write({ entries: [anEntry()], period: 202_611 });
    expect(await ensure(database, NOVEMBER)).toMatch(/ledger_202611 cannot be made: .*default partition/);
    expect(await partitionsOf(database)).toEqual({
      ledger: ['202612', 'default'],
      calls: ['202611', '202612', 'default'],
      ended_calls: ['202611', '202612', 'default'],
    });
  });
});
