import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Call } from '../../core/call/call.ts';
import type { Store } from '../../core/ports.ts';
import { START, aCall, aRecord, callId, completed, digest, insertAll } from '../samples.contract.ts';
import { sqliteStore } from './sqlite-store.ts';

const RUNS = ['run_a', 'run_b', 'run_c'] as const;

let folder: string;
let file: string;
let store: Store;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'patchboard-runs-'));
  file = join(folder, 'store.db');
  store = await sqliteStore({ file, digest });
});
afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});

/** Inserts groups in which later ids come first, so that numbers and ids are in different orders. */
async function insert(from: number, to: number): Promise<Call[]> {
  const calls: Call[] = [];
  for (let first = from; first <= to; first += 300) {
    const ns = Array.from({ length: Math.min(300, to - first + 1) }, (_, index) => first + index);
    const group = ns.map((n) => completed(aCall(n, { runId: RUNS[(n * n) % 3] ?? RUNS[0] })));
    await insertAll(store, group.toReversed());
    calls.push(...group);
  }
  return calls;
}

async function idsOfRun(runId: string, limit: number): Promise<string[]> {
  const ids: string[] = [];
  let cursor: string | null = null;
  do {
    const page = await store.listCalls({ tenant: 'acme', runId }, cursor, limit);
    ids.push(...page.items.map(({ id }) => id));
    cursor = page.nextCursor;
  } while (cursor !== null);
  return ids;
}

async function expectLists(calls: readonly Call[]): Promise<void> {
  for (const run of RUNS) {
    const expected = calls.filter(({ runId }) => runId === run).map(({ id }) => id);
    expect(await idsOfRun(run, 400)).toEqual(expected.toReversed());
  }
}

/** Returns the number of calls indexed by run. */
async function indexed(): Promise<number> {
  await store.close();
  const database = new DatabaseSync(file, { readOnly: true });
  const row = database.prepare('select count(*) as calls from calls_of_runs').get();
  database.close();
  store = await sqliteStore({ file, digest });
  return Number(row?.['calls']);
}

describe('the list of the calls of a run', () => {
  it('is complete with none, some or all calls indexed, and after a restart', async () => {
    const calls = await insert(1, 700);
    await expectLists(calls);
    expect(await indexed()).toBe(0);
    calls.push(...(await insert(701, 1600)));
    await expectLists(calls);
    const some = await indexed();
    expect(some).toBeGreaterThan(1000);
    expect(some).toBeLessThan(calls.length);
    await expectLists(calls);
  });

  it('is ordered by id, also if an older id was recorded later', async () => {
    const calls = await insert(2, 1500);
    await insertAll(store, [aCall(1, { runId: 'run_a' })]);
    const expected = calls.filter(({ runId }) => runId === 'run_a').map(({ id }) => id);
    expect(await idsOfRun('run_a', 7)).toEqual([callId(1), ...expected].toReversed());
  });

  it('omits purged calls, indexed or not, and includes later ones', async () => {
    const calls = await insert(1, 1500);
    expect(await store.purgeCalls(START + 10_000, 1500)).toBe(1500);
    await expectLists([]);
    expect(await indexed()).toBe(0);
    const later = await insert(1501, 3200);
    await expectLists(later);
    expect(calls).toHaveLength(1500);
  });

  it('is correct after a failed transaction', async () => {
    const calls = await insert(1, 1000);
    const twice = aCall(1, { runId: 'run_b' });
    const ids = Array.from({ length: 200 }, (_, index) => completed(aCall(2000 + index, { runId: 'run_c' })));
    const [refused, ...taken] = await Promise.allSettled(
      [twice, ...ids].map(async (call) => await store.insertCall(aRecord(call))),
    );
    expect(refused?.status).toBe('rejected');
    expect(taken.every(({ status }) => status === 'fulfilled')).toBe(true);
    await expectLists([...calls, ...ids]);
    expect(await indexed()).toBeGreaterThanOrEqual(1024);
  });
});
