import type { Call } from './call.ts';

const TRACEPARENT = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(?:-|$)/;
const NO_TRACE = '0'.repeat(32);
const NO_SPAN = '0'.repeat(16);

export interface TraceContext {
  readonly traceId: string;
  readonly spanId: string;
}

/** Parses a W3C `traceparent` header. Returns null if it is malformed: such a header is ignored. */
export function parseTraceparent(text: string): TraceContext | null {
  const [, traceId, spanId] = TRACEPARENT.exec(text) ?? [];
  if (traceId === undefined || spanId === undefined || traceId === NO_TRACE || spanId === NO_SPAN)
    return null;
  return { traceId, spanId };
}

/** The `traceparent` that is sent along with a call; null if its trace is not a W3C one. */
export function traceparentOf({
  traceId,
  spanId,
  origin,
}: Pick<Call, 'traceId' | 'spanId' | 'origin'>): string | null {
  // A caller may send a traceparent beside a trace id that is not a W3C one.
  if (origin?.traceparent !== undefined) return origin.traceparent;
  if (traceId === null || spanId === null) return null;
  const text = `00-${traceId}-${spanId}-01`;
  return parseTraceparent(text) === null ? null : text;
}
