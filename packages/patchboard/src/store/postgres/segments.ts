import { int4Array, int8Array, textArray } from '../../postgres/arrays.ts';

/** A committed batch of a writer. */
export interface SegmentRow {
  readonly writer: number;
  readonly no: number;
  readonly period: number;
  readonly first: number;
  readonly last: number;
  readonly hash: Buffer;
  /** The calls that it ended, as JSON: `[[tenant, state code, count], …]`. */
  readonly ended: string | null;
}

/** Consecutive rows that get consecutive sequence numbers. */
export interface Span {
  readonly from: number;
  to: number;
  readonly writer: number;
  readonly period: number;
  readonly first: number;
  last: number;
  /** The hash of the last row. */
  rowHash: Buffer;
}

/** Consecutive rows of one writer and period are one span. A segment without rows belongs to none. */
export function spansOf(segments: readonly SegmentRow[], head: number): Span[] {
  const spans: Span[] = [];
  let seq = head;
  for (const { writer, period, first, last, hash } of segments) {
    if (last < first) continue;
    const span = spans.at(-1);
    const to = seq + (last - first) + 1;
    if (span !== undefined && span.writer === writer && span.period === period && span.last + 1 === first) {
      span.to = to;
      span.last = last;
      span.rowHash = hash;
    } else spans.push({ from: seq + 1, to, writer, period, first, last, rowHash: hash });
    seq = to;
  }
  return spans;
}

/** The ended calls of the segments, by tenant and state. */
export function endedValues(segments: readonly SegmentRow[]): Buffer[] {
  const counts = new Map<string, { readonly tenant: string; readonly state: number; calls: number }>();
  for (const { ended } of segments) {
    if (ended === null) continue;
    for (const [tenant, state, calls] of JSON.parse(ended) as [string, number, number][]) {
      const key = `${state} ${tenant}`;
      const count = counts.get(key);
      if (count === undefined) counts.set(key, { tenant, state, calls });
      else count.calls += calls;
    }
  }
  const all = [...counts.values()];
  return [
    textArray(all.map(({ tenant }) => tenant)),
    int4Array(all.map(({ state }) => state)),
    int8Array(all.map(({ calls }) => calls)),
  ];
}

/** The last segment of each writer. */
export function writerValues(segments: readonly SegmentRow[]): Buffer[] {
  const last = new Map(segments.map(({ writer, no }) => [writer, no]));
  return [int4Array([...last.keys()]), int8Array([...last.values()])];
}
