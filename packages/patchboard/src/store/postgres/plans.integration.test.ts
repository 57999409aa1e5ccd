import { describe, expect, it } from 'vitest';
import { POSTGRES_VERSIONS } from '../../../test/services/postgres-binaries.ts';
import type { Queryable, QueryRows, Statement } from '../../postgres/connection.ts';
import { firstCallIdAt } from '../../runtime/ids.ts';
import { aDatabase, type TestDatabase } from './a-database.contract.ts';
import { CallLists } from './call-lists.ts';
import { CallReader } from './call-reader.ts';
import { EventReader } from './event-reader.ts';
import { LedgerReader } from './ledger-reader.ts';
import { ensurePartitions } from './partitions.ts';
import { RunLists } from './run-lists.ts';
import { sql } from './sql-writer.contract.ts';

const MONTHS = [202_607, 202_608, 202_609, 202_610, 202_611];
const CALLS_PER_MONTH = 1500;
const ROWS_PER_CALL = 3;
const ROWS = MONTHS.length * CALLS_PER_MONTH * ROWS_PER_CALL;

const startOf = (month: number): number => Date.UTC(2026, (month % 100) - 1);
const idOf = (month: number, n: number): string =>
  `${firstCallIdAt(startOf(month))}${String(n).padStart(6, '0')}`;

/** Fills tables that are large enough for indexes, with statistics. Every 100th call failed; each run has ten calls. */
async function fill(database: TestDatabase): Promise<void> {
  const { schema, tables: t } = database;
  const connection = database.connect('setup');
  for (const month of MONTHS) {
    const now = startOf(month);
    await ensurePartitions({ connection, schema, tables: t, now, firstIdAt: firstCallIdAt });
    const calls = `generate_series(1, ${CALLS_PER_MONTH}) as n`;
    const id = `'${firstCallIdAt(now)}' || lpad(n::text, 6, '0')`;
    await database.rows(`insert into ${t.calls} (id, created_at, tenant, run_id, agent_id, tool_name, tool_version,
        source, timeout_ms, decision, args)
      select ${id}, ${now} + n, 'acme', 'run_' || n / 10, 'agent-1', 'tool', 'v', 'server', 1, '{}', repeat('x', 200)
      from ${calls}`);
    await database.rows(`insert into ${t.ended_calls} select ${id}, 3, case when n % 100 = 0 then 5 else 4 end,
        ${now} + n, '{}', repeat('x', 200) from ${calls}`);
    const before = MONTHS.indexOf(month) * CALLS_PER_MONTH * ROWS_PER_CALL;
    await database.rows(`insert into ${t.ledger}
      select ${month}, 1, ${before} + (n - 1) * ${ROWS_PER_CALL} + k, ${now} + n, 'acme', 'call.state', ${id},
        'trace-' || n, repeat('x', 200), '\\x00' from ${calls}, generate_series(1, ${ROWS_PER_CALL}) as k`);
    const perSpan = 10;
    await database.rows(`insert into ${t.ledger_order}
      select ${before} + n * ${perSpan}, ${before} + (n - 1) * ${perSpan} + 1, 1, ${month},
        ${before} + (n - 1) * ${perSpan} + 1, ${before} + n * ${perSpan}, '\\x00'
      from generate_series(1, ${(CALLS_PER_MONTH * ROWS_PER_CALL) / perSpan}) as n`);
  }
  await database.rows(`update ${t.ledger_head} set seq = ${ROWS}`);
  for (const table of Object.values(t)) await database.rows(`analyze ${table}`);
}

/** Explains each statement in place of executing it, with the values and, if the server can, without. */
class Explaining implements Queryable {
  readonly #database: TestDatabase;
  readonly plans: { readonly name: string; readonly plan: string }[] = [];

  constructor(database: TestDatabase) {
    this.#database = database;
  }

  async query<Row extends object>(
    statement: Statement,
    values: readonly unknown[] = [],
  ): Promise<QueryRows<Row>> {
    const { reader, service } = this.#database;
    const options = 'analyze, costs off, timing off, summary off';
    const plans = [(await reader.query(sql(`explain (${options}) ${statement.text}`), values)).rows];
    if (service.version >= 16)
      plans.push((await (await reader.client()).query(`explain (generic_plan) ${statement.text}`)).rows);
    const plan = plans.flatMap((rows) => rows.map((row) => Object.values(row)[0] as string)).join('\n');
    this.plans.push({ name: statement.name, plan });
    return await reader.query<Row>(statement, values);
  }
}

/** Partitions and tables with rows; the planner reads empty ones as it likes. */
const LARGE = /Seq Scan on (\w+_(202607|202608|202609|202610|202611)|ledger_order)/;

describe.each(POSTGRES_VERSIONS)('plans in PostgreSQL %i', (version) => {
  it('use an index for every large table, and read the partition of a call or period only', async () => {
    const database = await aDatabase(version);
    await fill(database);
    const { tables, sequencer } = database;
    const reader = new Explaining(database);
    const calls = new CallReader({ reader, tables });
    const ledger = new LedgerReader({ reader, tables, sequencer, calls });
    const events = new EventReader({ reader, tables, sequencer });
    const lists = new CallLists({ reader, tables, calls, firstIdAt: firstCallIdAt });
    const runs = new RunLists({ reader, tables });

    expect((await calls.findMany([idOf(202_608, 5)])).size).toBe(1);
    expect((await ledger.read({}, 5000, 100)).map(({ row }) => row.seq)[99]).toBe(5100);
    expect(await ledger.read({ callId: idOf(202_608, 5) }, 0, 10)).toHaveLength(3);
    expect(await ledger.read({ traceId: 'trace-7' }, 0, 100)).toHaveLength(3 * MONTHS.length);
    expect(await ledger.order(5000, 10)).toHaveLength(10);
    await database.writer(1);
    expect((await ledger.writerHeads(5005)).map(({ no }) => no)).toEqual([5005]);
    const reading = { tenant: 'acme', askedOrRunBy: { agentId: 'agent-1', clientId: null } };
    expect((await events.read(reading, 5000, 32)).rows).toHaveLength(32);
    expect((await events.read({ tenant: 'acme', callId: idOf(202_608, 5) }, 0, 32)).rows).toHaveLength(3);
    expect((await lists.listCalls({ tenant: 'acme' }, idOf(202_609, 1), 50)).items).toHaveLength(50);
    expect((await lists.listCalls({ tenant: 'acme', runId: 'run_7' }, null, 100)).items).toHaveLength(50);
    expect((await lists.listCalls({ tenant: 'acme', states: ['FAILED'] }, null, 30)).items).toHaveLength(30);
    expect((await lists.listCalls({ tenant: 'acme', states: ['COMPLETED'] }, null, 30)).items).toHaveLength(
      30,
    );
    await runs.listRuns({ tenant: 'acme' }, null, 10);
    await database.rows(`insert into ${tables.open_calls} (id, version, state, owner, tail, client_id)
      select id, 1, 1, 1, '{}', 'client-' || right(id, 2) from ${tables.calls}`);
    await database.rows(`analyze ${tables.open_calls}`);
    for await (const call of calls.openCallsOf({ tenant: 'acme', clientId: 'client-x' }))
      expect(call).toBeUndefined();
    const ofClient = reader.plans.find(({ name }) => name === 'open_ids_of_client');
    expect(ofClient?.plan).toMatch(/open_calls_by_client/);
    expect(ofClient?.plan).not.toMatch(/Seq Scan on open_calls/);

    for (const { name, plan } of reader.plans) expect(`${name}: ${plan}`).not.toMatch(LARGE);
    // Partitions of other months are not touched, although the statement does not say which month it is.
    const read = (name: string, table: string): string[] =>
      [
        ...reader.plans
          .find((one) => one.name === name)!
          .plan.matchAll(new RegExp(`on (${table}_\\d+) .*\\(actual (?!.*never)`, 'g')),
      ].map((match) => match[1]!);
    expect(read('calls_by_id', 'ended_calls')).toEqual(['ended_calls_202608']);
    expect(read('ledger_window', 'ledger')).toEqual(['ledger_202608']);
    expect(read('ledger_writer_heads', 'ledger')).toEqual(['ledger_202608']);
  });
});
