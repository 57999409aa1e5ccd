import type { IncomingHttpHeaders } from 'node:http';
import { PEER_ID_PATTERN, WIRE_LIMITS } from '@patchboard/wire';
import { parseTraceparent } from '../../../core/call/trace-context.ts';

const NO_TRACE = { traceId: null, spanId: null };

const WAIT = /(?:^|[,;\s])wait\s*=\s*"?(\d{1,9})"?(?=$|[,;\s])/i;

/** Seconds of `Prefer: wait=N`, at most what we grant; null when it says nothing. A preference is never an error. */
export function waitSecondsOf(headers: IncomingHttpHeaders): number | null {
  const { prefer } = headers;
  if (typeof prefer !== 'string') return null;
  const seconds = WAIT.exec(prefer)?.[1];
  return seconds === undefined ? null : Math.min(Number(seconds), WIRE_LIMITS.waitSeconds);
}

/**
 * `X-Trace-ID` is said on purpose and wins; `traceparent` is often put in by a library. What is malformed is no trace,
 * unless the route has refused it already.
 */
export function traceOf(headers: IncomingHttpHeaders): { traceId: string | null; spanId: string | null } {
  const parent = headers['traceparent'];
  const context = typeof parent === 'string' ? parseTraceparent(parent) : null;
  const given = headers['x-trace-id'];
  if (typeof given === 'string' && PEER_ID_PATTERN.test(given) && given !== context?.traceId) {
    const span = headers['x-span-id'];
    return { traceId: given, spanId: typeof span === 'string' && PEER_ID_PATTERN.test(span) ? span : null };
  }
  return context ?? NO_TRACE;
}

export function idempotencyKeyOf(headers: IncomingHttpHeaders): string | null {
  const key = headers['idempotency-key'];
  return typeof key === 'string' ? key : null;
}
