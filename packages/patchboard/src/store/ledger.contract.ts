import { describe, expect, it } from 'vitest';
import { waitFor } from '../../test/support/wait-for.ts';
import type { LedgerCheckpoint } from '../core/ledger/checkpoint.ts';
import { verifyLedger } from '../core/ledger/ledger-check.ts';
import { GENESIS, chainHash, type LedgerDraft, type LedgerRow } from '../core/ledger/ledger.ts';
import type { CommittedRow, LedgerFilter, Store } from '../core/ports.ts';
import type { Subject } from './store.contract.ts';
import {
  START,
  aCall,
  aRecord,
  anEntry,
  callId,
  completed,
  digest,
  insertAll,
  rowsOf,
} from './samples.contract.ts';

/** Returns the whole ledger of one writer after checking that it has no gap and no broken link. */
export async function verifiedLedger(store: Store): Promise<LedgerRow[]> {
  const rows: LedgerRow[] = [];
  let previous = GENESIS;
  for (;;) {
    const page = await store.readLedger({}, rows.length, 100);
    for (const { row } of page) {
      expect(row.seq).toBe(rows.length + 1);
      expect(row.hash).toBe(chainHash(digest, previous, row.place?.no ?? row.seq, row));
      previous = row.hash;
      rows.push(row);
    }
    if (page.length === 0) break;
  }
  const spans = await store.readLedgerOrder?.(0, 10_000);
  const hash = spans === undefined ? previous : (spans.at(-1)?.hash ?? GENESIS);
  expect(await store.ledgerHead()).toEqual({ seq: rows.length, hash });
  expect(await verifyLedger(store, digest)).toMatchObject({ ok: true, rows: rows.length });
  return rows;
}

async function checkpointOf(store: Store, from: LedgerCheckpoint | null = null): Promise<LedgerCheckpoint> {
  const verdict = await verifyLedger(store, digest, from);
  if (!verdict.ok) throw new Error(verdict.problem);
  return verdict.checkpoint;
}

function fits(entry: LedgerDraft, filter: LedgerFilter): boolean {
  return (
    (filter.tenant ?? entry.tenant) === entry.tenant &&
    (filter.callId ?? entry.callId) === entry.callId &&
    (filter.traceId ?? entry.traceId) === entry.traceId &&
    (filter.kinds ?? [entry.kind]).includes(entry.kind) &&
    entry.at >= (filter.from ?? 0) &&
    entry.at < (filter.to ?? Infinity)
  );
}

export function describeLedger(subject: Subject): void {
  describe('the ledger', () => {
    it('begins empty', async () => {
      expect(await subject.store.ledgerHead()).toEqual({ seq: 0, hash: GENESIS });
      expect(await subject.store.readLedger({}, 0, 10)).toEqual([]);
    });

    it('numbers rows without a gap in the order of the writes, lost races or not, and its chain verifies', async () => {
      const { store } = subject;
      const writes: unknown[] = [];
      for (let n = 1; n <= 300; n += 1) {
        const call = aCall(n);
        const done = completed(call);
        writes.push(store.insertCall(aRecord(call)));
        writes.push(
          store.replaceCall(done, 1, rowsOf(done, 1), false),
          store.replaceCall(done, 1, rowsOf(done, 1), false),
        );
        if (n % 3 === 0) writes.push(store.append([anEntry({ body: `{"n":${n}}` })]));
        if (n % 50 === 0) await writes.at(-1);
      }
      await Promise.all(writes);
      const rows = await verifiedLedger(store);
      expect(rows).toHaveLength(300 * 3 + 100);
      const states = rows.filter(({ kind }) => kind === 'call.state').map(({ callId: id }) => id);
      expect(states).toEqual(states.toSorted((a, b) => (a! < b! ? -1 : 1)));
    });

    it('is verified from a checkpoint, which each verification returns', async () => {
      const { store } = subject;
      const empty = await checkpointOf(store);
      expect(empty).toMatchObject({ seq: 0, hash: GENESIS });
      await insertAll(store, [aCall(1), aCall(2)]);
      const first = await checkpointOf(store, empty);
      await store.append([anEntry()]);
      const done = completed(aCall(1));
      await store.replaceCall(done, 1, rowsOf(done, 1), false);
      const { seq } = await store.ledgerHead();
      expect(await verifyLedger(store, digest, first)).toMatchObject({ ok: true, rows: seq - first.seq });
      const last = await checkpointOf(store, first);
      expect(last).toEqual(await checkpointOf(store));
      expect(await verifyLedger(store, digest, last)).toMatchObject({ ok: true, rows: 0, checkpoint: last });
    });

    it('refuses a checkpoint with another hash, of another kind of ledger, or after the end', async () => {
      const { store } = subject;
      await store.append([anEntry(), anEntry()]);
      const { seq, hash, writers } = await checkpointOf(store);
      const other = digest.sha256('other');
      const problemOf = async (from: LedgerCheckpoint): Promise<unknown> => {
        const verdict = await verifyLedger(store, digest, from);
        return verdict.ok ? verdict : [verdict.seq, verdict.problem];
      };
      expect(await problemOf({ seq, hash: other, writers })).toEqual([
        seq,
        expect.stringMatching(
          `^the checkpoint expects the hash ${other} of the row, found ${hash}\\. .*verify without it`,
        ),
      ]);
      if (writers !== null)
        expect(await problemOf({ seq, hash, writers: other })).toEqual([
          seq,
          expect.stringContaining(`the hash ${other} of the last rows of the writers, found ${writers}`),
        ]);
      expect(await problemOf({ seq, hash, writers: writers === null ? other : null })).toEqual([
        seq,
        expect.stringContaining('verify without one'),
      ]);
      expect(await problemOf({ seq: seq + 5, hash, writers })).toEqual([
        seq + 1,
        `the end is cut off: the checkpoint is row ${seq + 5}, but the head is row ${seq}`,
      ]);
    });

    it('returns a row with the current version of its call', async () => {
      const { store } = subject;
      const done = completed(aCall(1));
      await store.insertCall(aRecord(aCall(1)));
      await store.replaceCall(done, 1, rowsOf(done, 1), false);
      await store.append([anEntry(), anEntry({ callId: callId(77) })]);
      const rows = await store.readLedger({}, 0, 10);
      expect(rows.map(({ call }) => call)).toEqual([done, done, done, null, null]);
    });

    it('omits the calls if `withCalls` is false', async () => {
      const { store } = subject;
      await insertAll(store, [aCall(1)]);
      const rows = await store.readLedger({}, 0, 10, { withCalls: false });
      expect(rows.map(({ row, call }) => [row.callId, call])).toEqual([[callId(1), null]]);
    });

    it.each([
      [1, 600],
      [50, 2000],
      [200, 2000],
    ])('yields to the event loop while it is read in pages of %i', async (limit, count) => {
      const { store } = subject;
      await store.append(Array.from({ length: count }, () => anEntry()));
      let turns = 0;
      let last = 0;
      let waiting = setImmediate(function again() {
        turns += 1;
        waiting = setImmediate(again);
      });
      for (;;) {
        const page = await store.readLedger({}, last, limit);
        if (page.length === 0) break;
        last = page.at(-1)?.row.seq ?? last;
      }
      clearImmediate(waiting);
      expect(last).toBe(count);
      expect(turns).toBeGreaterThan(count / 250);
    });

    const filters: LedgerFilter[] = [
      { tenant: 'acme' },
      { callId: callId(3) },
      { callId: callId(999) },
      { traceId: 'trace-1' },
      { kinds: ['run.created', 'call.refused'] },
      { kinds: [] },
      { kinds: ["x') or 1=1 --"] },
      { from: START + 10, to: START + 20 },
      { tenant: 'acme', traceId: 'trace-0', kinds: ['call.state'], from: START + 5, to: START + 50 },
      { tenant: 'other', callId: callId(4), to: START + 40 },
    ];

    it('is read by filter, in order, from any position', async () => {
      const { store } = subject;
      const kinds = ['call.state', 'call.refused', 'run.created', 'registry.changed'] as const;
      const entries = Array.from({ length: 60 }, (_, index) =>
        anEntry({
          at: START + index,
          tenant: index % 5 === 0 ? 'other' : 'acme',
          kind: kinds[index % 4]!,
          callId: index % 4 === 0 ? callId(index % 8) : null,
          traceId: index % 2 === 0 ? `trace-${index % 3}` : null,
          body: `{"index":${index}}`,
        }),
      );
      await store.append(entries);
      for (const filter of filters) {
        const expected = entries.flatMap((entry, index) => (fits(entry, filter) ? [index + 1] : []));
        const found: number[] = [];
        for (;;) {
          const page = await store.readLedger(filter, found.at(-1) ?? 0, 3);
          if (page.length === 0) break;
          found.push(...page.map(({ row }) => row.seq));
        }
        expect(found, JSON.stringify(filter)).toEqual(expected);
        const after = 30;
        const rest = await store.readLedger(filter, after, 1000);
        expect(rest.map(({ row }) => row.seq)).toEqual(expected.filter((seq) => seq > after));
      }
    });

    it('stores rows exactly as given', async () => {
      const entry = anEntry({ body: '{"text":"天气 \\" ü"}', traceId: 'trace "1"\n', tenant: 'tenant "x"' });
      await subject.store.append([entry]);
      expect((await verifiedLedger(subject.store))[0]).toMatchObject(entry);
    });
  });

  describe('watch', () => {
    it('calls the listener once per row, in order, with its call, soon after the commit', async () => {
      const { store } = subject;
      const received: CommittedRow[] = [];
      store.watch((committed) => received.push(committed));
      const done = completed(aCall(1));
      await store.insertCall(aRecord(aCall(1)));
      await waitFor(() => expect(received).toHaveLength(1));
      expect(received[0]).toMatchObject({ row: { seq: 1 }, call: aCall(1) });
      await store.replaceCall(done, 1, rowsOf(done, 1), false);
      await waitFor(() => expect(received).toHaveLength(3));
      expect(received.at(-1)?.call).toEqual(done);
      const calls = Array.from({ length: 50 }, (_, index) => aCall(index + 2));
      await insertAll(store, calls);
      await waitFor(() => expect(received.length).toBeGreaterThanOrEqual(53));
      // Would follow a row that was received twice.
      await store.append([anEntry()]);
      await waitFor(() => expect(received.at(-1)?.row.callId).toBeNull());
      expect(received.map(({ row }) => row.seq)).toEqual(Array.from({ length: 54 }, (_, index) => index + 1));
      expect(received.map(({ row }) => row.hash)).toEqual(
        (await verifiedLedger(store)).map(({ hash }) => hash),
      );
    });

    it('keeps the order for every listener when one of them writes', async () => {
      const { store } = subject;
      const first: number[] = [];
      const second: number[] = [];
      let nested: Promise<void> | undefined;
      store.watch(({ row }) => {
        first.push(row.seq);
        nested ??= store.append([anEntry(), anEntry()]);
      });
      store.watch(({ row }) => second.push(row.seq));
      await store.append([anEntry(), anEntry()]);
      await waitFor(() => expect([first.length, second.length]).toEqual([4, 4]));
      await nested;
      expect(first).toEqual([1, 2, 3, 4]);
      expect(second).toEqual([1, 2, 3, 4]);
    });

    it('does not call the listener for rejected writes, nor after the watch has ended', async () => {
      const { store } = subject;
      await insertAll(store, [aCall(1)]);
      const received: CommittedRow[] = [];
      const end = store.watch((committed) => received.push(committed));
      await store.replaceCall(completed(aCall(1)), 7, [anEntry()], false);
      await store.append([]);
      end();
      await store.append([anEntry()]);
      expect(received).toEqual([]);
    });
  });
}
