import { int4Array, int8Array } from '../../postgres/arrays.ts';
import type { EndedCount } from './totals.ts';

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

/** The calls that the segments ended. A tenant and state may be there several times. */
export function endedIn(segments: readonly SegmentRow[]): EndedCount[] {
  return segments.flatMap(({ ended }) => {
    const counts = ended === null ? [] : (JSON.parse(ended) as [string, number, number][]);
    return counts.map(([tenant, state, calls]) => ({ tenant, state, calls }));
  });
}

/** The last segment of each writer. */
export function writerValues(segments: readonly SegmentRow[]): Buffer[] {
  const last = new Map(segments.map(({ writer, no }) => [writer, no]));
  return [int4Array([...last.keys()]), int8Array([...last.values()])];
}
