import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { EventRow, EventRowFilter } from '../core/ledger/event-slice.ts';
import type { LedgerKind } from '../core/ledger/ledger.ts';
import type { CommittedRow, Store } from '../core/ports.ts';
import { START, aCall, aRecord, anEntry, callId, completed } from './samples.contract.ts';
import type { Subject } from './store.contract.ts';

const TENANTS = ['acme', 'other'] as const;
const AGENTS = ['agent-1', 'agent-2', 'phone'] as const;
const CLIENTS = [null, 'phone', 'tablet'] as const;
const EVENTS: readonly LedgerKind[] = [
  'call.state',
  'permission_required',
  'permission_decided',
  'device.changed',
  'registry.changed',
];

/** All kinds of readers: tenants, agents, clients, and readers without events. */
const FILTERS: readonly EventRowFilter[] = [
  ...TENANTS.flatMap((tenant): EventRowFilter[] => [
    { tenant },
    ...AGENTS.flatMap((agentId) =>
      CLIENTS.map((clientId): EventRowFilter => ({ tenant, askedOrRunBy: { agentId, clientId } })),
    ),
  ]),
  { tenant: 'nobody' },
  { tenant: 'acme', askedOrRunBy: { agentId: 'nobody', clientId: 'nobody' } },
  { tenant: 'acme', callId: callId(3) },
  { tenant: 'other', callId: callId(3) },
];

/** The reference implementation, over the whole ledger. */
function mayShow({ row, call }: CommittedRow, { tenant, callId: id, askedOrRunBy }: EventRowFilter): boolean {
  if (row.tenant !== tenant || !EVENTS.includes(row.kind)) return false;
  if (id !== undefined && row.callId !== id) return false;
  if (askedOrRunBy === undefined || row.callId === null) return true;
  return (
    call !== null &&
    (call.agentId === askedOrRunBy.agentId ||
      (askedOrRunBy.clientId !== null && call.clientId === askedOrRunBy.clientId))
  );
}

function shown({ row, call }: EventRow): unknown {
  const { seq, at, tenant, kind, callId: id, body } = row;
  const names =
    call === null ? null : [call.id, call.tenant, call.runId, call.toolName, call.agentId, call.clientId];
  return { seq, at, tenant, kind, id, body, names };
}

async function wholeLedger(store: Store): Promise<CommittedRow[]> {
  const rows: CommittedRow[] = [];
  for (;;) {
    const page = await store.readLedger({}, rows.length, 1000);
    if (page.length === 0) return rows;
    rows.push(...page);
  }
}

/** Reads all slices up to the end. */
async function eventsOf(
  store: Store,
  filter: EventRowFilter,
  { after = 0, limit = 100 } = {},
): Promise<{ rows: EventRow[]; reached: number }> {
  const rows: EventRow[] = [];
  for (let from = after; ;) {
    const slice = await store.readEvents(filter, from, limit);
    expect(slice.rows.length).toBeLessThanOrEqual(limit);
    for (const { row } of slice.rows) expect(row.seq > from && row.seq <= slice.reached).toBe(true);
    rows.push(...slice.rows);
    if (slice.isEnd) return { rows, reached: slice.reached };
    expect(slice.reached).toBeGreaterThan(from);
    from = slice.reached;
  }
}

async function expectEvents(store: Store, options: { after?: number; limit?: number } = {}): Promise<void> {
  const ledger = await wholeLedger(store);
  for (const filter of FILTERS) {
    const { rows, reached } = await eventsOf(store, filter, options);
    const expected = ledger.filter((row) => row.row.seq > (options.after ?? 0) && mayShow(row, filter));
    expect(rows.map(shown)).toEqual(expected.map(shown));
    expect(reached).toBe(Math.max(ledger.length, options.after ?? 0));
  }
}

/** Writes calls and other rows, mixed. `n` continues with each `add`. */
class History {
  #n = 0;

  async add(store: Store, rows: number): Promise<void> {
    const writes: unknown[] = [];
    for (let written = 0; written < rows;) {
      const n = (this.#n += 1);
      if (n % 7 === 0) writes.push(store.append([anEntry({ tenant: TENANTS[n % 2]!, body: `{"n":${n}}` })]));
      else if (n % 11 === 0)
        writes.push(store.append([anEntry({ kind: 'call.refused', body: `{"n":${n}}` })]));
      else writes.push(store.insertCall(aRecord(this.#call(n))));
      written += n % 7 === 0 || n % 11 === 0 ? 1 : 3;
    }
    await Promise.all(writes);
  }

  #call(n: number): ReturnType<typeof aCall> {
    const [tenant, agentId] = [TENANTS[(n >> 1) % 2]!, AGENTS[(n >> 2) % 3]!];
    const runId = `run_${tenant}_${agentId}`;
    return completed(aCall(n, { tenant, agentId, runId, clientId: CLIENTS[(n >> 3) % 3]! }));
  }
}

export function describeEvents(subject: Subject): void {
  describe('events', () => {
    it('are none in an empty ledger, also after a sequence beyond its end', async () => {
      expect(await subject.store.readEvents({ tenant: 'acme' }, 0, 10)).toEqual({
        rows: [],
        reached: 0,
        isEnd: true,
      });
      expect(await subject.store.readEvents({ tenant: 'acme' }, 7, 10)).toEqual({
        rows: [],
        reached: 7,
        isEnd: true,
      });
    });

    it.each([
      [1, 60],
      [7, 300],
      [100, 300],
    ])('are the rows that each reader may see, in slices of %i', async (limit, rows) => {
      await new History().add(subject.store, rows);
      await expectEvents(subject.store, { limit });
      await expectEvents(subject.store, { limit, after: rows / 2 });
    });

    it('are complete while the ledger grows', async () => {
      const history = new History();
      const filter: EventRowFilter = {
        tenant: 'acme',
        askedOrRunBy: { agentId: 'agent-1', clientId: 'phone' },
      };
      const read: EventRow[] = [];
      let reached = 0;
      for (let round = 0; round < 8; round += 1) {
        const writing = history.add(subject.store, 400);
        const some = await eventsOf(subject.store, filter, { after: reached });
        read.push(...some.rows);
        reached = some.reached;
        await writing;
      }
      read.push(...(await eventsOf(subject.store, filter, { after: reached })).rows);
      const expected = (await wholeLedger(subject.store)).filter((row) => mayShow(row, filter));
      expect(read.map(shown)).toEqual(expected.map(shown));
    });

    it('of removed calls are visible only to readers of the whole tenant', async () => {
      await new History().add(subject.store, 1500);
      expect(await subject.store.purgeCalls(START + 200, 1000)).toBeGreaterThan(50);
      await expectEvents(subject.store);
    });

    it('match the ledger after any sequence of writes, removals and reopenings', async () => {
      const history = new History();
      const step = fc.oneof(
        { weight: 4, arbitrary: fc.nat(900).map((rows) => ({ rows })) },
        { weight: 1, arbitrary: fc.nat(400).map((purge) => ({ purge })) },
        { weight: 2, arbitrary: fc.constant('reopen' as const) },
      );
      const steps = fc.array(step, { minLength: 1, maxLength: 4 });
      const run = async (
        taken: readonly (typeof step extends fc.Arbitrary<infer Step> ? Step : never)[],
      ): Promise<void> => {
        for (const next of taken) {
          if (next === 'reopen') subject.store = (await subject.reopen?.()) ?? subject.store;
          else if ('rows' in next) await history.add(subject.store, next.rows);
          else await subject.store.purgeCalls(START + next.purge, 1000);
        }
        await expectEvents(subject.store);
      };
      await fc.assert(fc.asyncProperty(steps, run), { numRuns: 5, endOnFailure: true });
    });
  });
}
