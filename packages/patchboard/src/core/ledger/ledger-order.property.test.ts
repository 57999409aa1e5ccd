import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nodeDigest } from '../../runtime/digest.ts';
import type { LedgerHead } from '../ports.ts';
import type { LedgerCheckpoint } from './checkpoint.ts';
import { verifyLedger, type CheckedStore, type LedgerVerdict } from './ledger-check.ts';
import { chainHash, GENESIS, type LedgerDraft, type LedgerRow } from './ledger.ts';
import { orderHash, type LedgerSpan } from './ledger-order.ts';

/** A ledger of several writers as plain data. */
interface Ledger {
  rows: LedgerRow[];
  spans: LedgerSpan[];
  head: LedgerHead;
}

interface Batch {
  readonly writer: number;
  readonly rows: number;
}

function draft(n: number): LedgerDraft {
  return { at: n, tenant: 'acme', kind: 'registry.changed', callId: null, traceId: null, body: `{"n":${n}}` };
}

/** Each batch becomes a span, in the given order. */
function ledgerOf(batches: readonly Batch[]): Ledger {
  const rows: LedgerRow[] = [];
  const spans: LedgerSpan[] = [];
  const writers = new Map<number, { no: number; hash: string }>();
  let order = GENESIS;
  for (const { writer, rows: count } of batches) {
    let last = writers.get(writer) ?? { no: 0, hash: GENESIS };
    const span = {
      from: rows.length + 1,
      to: rows.length + count,
      writer,
      first: last.no + 1,
      last: last.no + count,
    };
    for (let index = 0; index < count; index += 1) {
      const entry = draft(rows.length + 1);
      const no = last.no + 1;
      last = { no, hash: chainHash(nodeDigest, last.hash, no, entry) };
      rows.push({ ...entry, seq: rows.length + 1, hash: last.hash, place: { writer, no } });
    }
    writers.set(writer, last);
    order = orderHash(nodeDigest, order, span, last.hash);
    spans.push({ ...span, hash: order });
  }
  return { rows, spans, head: { seq: rows.length, hash: order } };
}

async function verdictOf(
  { rows, spans, head }: Ledger,
  from: LedgerCheckpoint | null = null,
): Promise<LedgerVerdict> {
  const store: CheckedStore = {
    ledgerHead: async () => head,
    findCall: () => undefined,
    readLedger: async (_filter, after, limit) =>
      rows
        .filter(({ seq }) => seq > after)
        .slice(0, limit)
        .map((row) => ({ row, call: null })),
    readLedgerOrder: async (after, limit) => spans.filter(({ to }) => to > after).slice(0, limit),
    readWriterHeads: async (seq) => {
      const heads = rows.flatMap(({ seq: at, place, hash }) =>
        at <= seq && place !== undefined ? [{ ...place, hash }] : [],
      );
      return [...new Map(heads.map((one) => [one.writer, one])).values()];
    },
  };
  return await verifyLedger(store, nodeDigest, from);
}

/** The checkpoint that a verification of the first spans returns. */
async function checkpointAfter({ rows, spans }: Ledger, count: number): Promise<LedgerCheckpoint> {
  const [seq, hash] = [spans[count - 1]?.to ?? 0, spans[count - 1]?.hash ?? GENESIS];
  const verdict = await verdictOf({ rows, spans, head: { seq, hash } });
  if (!verdict.ok) throw new Error(verdict.problem);
  return verdict.checkpoint;
}

const batches = fc.array(fc.record({ writer: fc.constantFrom(1, 2), rows: fc.integer({ min: 1, max: 4 }) }), {
  minLength: 2,
  maxLength: 12,
});

/** Changes the element at some position. `at` is taken modulo the length. */
function changedAt<T>(items: readonly T[], at: number, change: (item: T) => T): T[] {
  return items.map((item, index) => (index === at % items.length ? change(item) : item));
}

/** Exchanges the content of two rows, which keep their sequence numbers. */
function swappedRows(rows: readonly LedgerRow[], at: number): LedgerRow[] {
  const first = at % (rows.length - 1);
  const [a, b] = [rows[first]!, rows[first + 1]!];
  return rows.map((row) => (row === a ? { ...b, seq: a.seq } : row === b ? { ...a, seq: b.seq } : row));
}

/** Puts two spans in the other order, with the sequence numbers and rows that follow from it. */
function swappedSpans({ rows, spans, head }: Ledger, at: number): Ledger {
  const first = at % (spans.length - 1);
  const [a, b] = [spans[first]!, spans[first + 1]!];
  const ofB = { ...b, from: a.from, to: a.from + (b.to - b.from) };
  const ofA = { ...a, from: ofB.to + 1, to: b.to };
  const moved = rows.map((row) => {
    if (row.seq >= a.from && row.seq <= a.to) return { ...row, seq: row.seq - a.from + ofA.from };
    if (row.seq >= b.from && row.seq <= b.to) return { ...row, seq: row.seq - b.from + ofB.from };
    return row;
  });
  const order = spans.map((span) => (span === a ? ofB : span === b ? ofA : span));
  return { rows: moved.sort((x, y) => x.seq - y.seq), spans: order, head };
}

const flipped = (hash: string): string => `${hash.startsWith('0') ? '1' : '0'}${hash.slice(1)}`;

const CHANGES: Readonly<Record<string, (ledger: Ledger, at: number) => Ledger>> = {
  'a changed row': (ledger, at) => ({
    ...ledger,
    rows: changedAt(ledger.rows, at, (row) => ({ ...row, body: '{}' })),
  }),
  'a changed hash': (ledger, at) => ({
    ...ledger,
    rows: changedAt(ledger.rows, at, (row) => ({ ...row, hash: flipped(row.hash) })),
  }),
  'a row of another writer': (ledger, at) => ({
    ...ledger,
    rows: changedAt(ledger.rows, at, (row) => ({ ...row, place: { writer: 3, no: row.place?.no ?? 0 } })),
  }),
  'a deleted row': (ledger, at) => ({
    ...ledger,
    rows: ledger.rows.filter((_, index) => index !== at % ledger.rows.length),
  }),
  'two rows in the other order': (ledger, at) => ({ ...ledger, rows: swappedRows(ledger.rows, at) }),
  'two spans in the other order': swappedSpans,
  'a deleted span': (ledger, at) => ({
    ...ledger,
    spans: ledger.spans.filter((_, index) => index !== at % ledger.spans.length),
  }),
  'a span that ends later': (ledger, at) => ({
    ...ledger,
    spans: changedAt(ledger.spans, at, (span) => ({ ...span, to: span.to + 1, last: span.last + 1 })),
  }),
  'a changed hash of a span': (ledger, at) => ({
    ...ledger,
    spans: changedAt(ledger.spans, at, (span) => ({ ...span, hash: flipped(span.hash) })),
  }),
  'missing last rows': (ledger) => ({ ...ledger, rows: ledger.rows.slice(0, -1) }),
  'a missing last span with its rows': ({ rows, spans, head }) => ({
    rows: rows.filter(({ seq }) => seq < spans.at(-1)!.from),
    spans: spans.slice(0, -1),
    head,
  }),
  'another head': (ledger) => ({ ...ledger, head: { ...ledger.head, hash: flipped(ledger.head.hash) } }),
};

describe('a ledger of several writers', () => {
  it('verifies, whatever the order of the writers', async () => {
    await fc.assert(
      fc.asyncProperty(batches, async (given) => {
        const ledger = ledgerOf(given);
        const { head } = ledger;
        expect(await verdictOf(ledger)).toMatchObject({ ok: true, rows: head.seq, head });
      }),
    );
  });

  it.each(Object.entries(CHANGES))('shows %s', async (_name, change) => {
    await fc.assert(
      fc.asyncProperty(batches, fc.nat(), async (given, at) => {
        expect(await verdictOf(change(ledgerOf(given), at))).toMatchObject({ ok: false });
      }),
    );
  });

  it('is read in pages', async () => {
    const ledger = ledgerOf(Array.from({ length: 1200 }, (_, index) => ({ writer: index % 3, rows: 1 })));
    expect(await verdictOf(ledger)).toMatchObject({ ok: true, rows: 1200 });
  });

  it('ignores rows and spans that were written since the check began', async () => {
    const all = ledgerOf([1, 2, 1].map((writer) => ({ writer, rows: 2 })));
    const { spans } = all;
    expect(await verdictOf({ ...all, head: { seq: 4, hash: spans[1]!.hash } })).toMatchObject({
      ok: true,
      rows: 4,
    });
  });

  it('has a chain of its own for each writer, and the chain of a single writer is that of a plain ledger', async () => {
    const { rows, spans } = ledgerOf([{ writer: 7, rows: 3 }]);
    const plain = rows.reduce((hash, row) => chainHash(nodeDigest, hash, row.seq, row), GENESIS);
    expect(rows.at(-1)?.hash).toBe(plain);
    expect(spans.at(-1)?.hash).toBe(orderHash(nodeDigest, GENESIS, spans[0]!, plain));
  });
});

describe('a check of several writers from a checkpoint', () => {
  it('verifies the rows after it, and returns the checkpoint of a whole check', async () => {
    await fc.assert(
      fc.asyncProperty(batches, fc.nat(), async (given, at) => {
        const ledger = ledgerOf(given);
        const from = await checkpointAfter(ledger, at % (ledger.spans.length + 1));
        expect(await verdictOf(ledger, from)).toEqual({
          ...(await verdictOf(ledger)),
          rows: ledger.head.seq - from.seq,
        });
      }),
    );
  });

  it.each(Object.entries(CHANGES))('shows %s at it or after it', async (_name, change) => {
    await fc.assert(
      fc.asyncProperty(batches, fc.nat(), fc.nat(), async (given, span, at) => {
        const ledger = ledgerOf(given);
        const count = span % ledger.spans.length;
        const from = await checkpointAfter(ledger, count);
        const changed = change(ledger, at);
        // The first row or span that differs must be the one of the checkpoint, or a later one.
        const isRead = (seq: number): boolean => seq >= from.seq;
        const kept = (rows: readonly LedgerRow[]): string =>
          JSON.stringify(rows.filter(({ seq }) => !isRead(seq)));
        const keptSpans = (spans: readonly LedgerSpan[]): string =>
          JSON.stringify(spans.filter(({ to }) => !isRead(to)));
        fc.pre(
          kept(changed.rows) === kept(ledger.rows) && keptSpans(changed.spans) === keptSpans(ledger.spans),
        );
        expect(await verdictOf(changed, from)).toMatchObject({ ok: false });
      }),
    );
  });

  it('shows a writer that begins anew or whose last row before it was changed, also if its next row fits', async () => {
    const original = ledgerOf([1, 2, 1, 2].map((writer) => ({ writer, rows: 1 })));
    const from = await checkpointAfter(original, 3);
    // Row 2, the last one of writer 2 before the checkpoint, has another hash, and row 4 follows from it.
    const [other] = ledgerOf([{ writer: 2, rows: 1 }]).rows;
    const next = draft(4);
    const hash = chainHash(nodeDigest, other!.hash, 2, next);
    const span = original.spans[3]!;
    const order = orderHash(nodeDigest, original.spans[2]!.hash, span, hash);
    const forged: Ledger = {
      rows: original.rows.map((row) =>
        row.seq === 2 ? { ...other!, seq: 2 } : row.seq === 4 ? { ...row, hash } : row,
      ),
      spans: [...original.spans.slice(0, 3), { ...span, hash: order }],
      head: { seq: 4, hash: order },
    };
    expect(await verdictOf(forged, from)).toMatchObject({
      ok: false,
      seq: 3,
      problem: expect.stringContaining('of the last rows of the writers') as string,
    });
    const without = { ...forged, rows: forged.rows.filter(({ seq }) => seq !== 2) };
    expect(await verdictOf(without, from)).toMatchObject({ ok: false, seq: 3 });
  });

  it('refuses a checkpoint without the hash of the writers, inside a span, and after the end', async () => {
    const ledger = ledgerOf([1, 2].map((writer) => ({ writer, rows: 3 })));
    const { head } = ledger;
    expect(await verdictOf(ledger, { ...head, writers: null })).toMatchObject({
      ok: false,
      problem: expect.stringContaining('this ledger may have several writers') as string,
    });
    const from = await checkpointAfter(ledger, 1);
    expect(await verdictOf(ledger, { ...from, seq: 2 })).toMatchObject({ ok: false, seq: 2 });
    expect(await verdictOf(ledger, { ...from, seq: 9 })).toMatchObject({ ok: false, seq: 7 });
  });
});
