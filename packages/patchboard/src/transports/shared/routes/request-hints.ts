import type { IncomingHttpHeaders } from 'node:http';
import { PEER_ID_PATTERN, WIRE_LIMITS } from '@patchboard/wire';
import { parseTraceparent } from '../../../core/call/trace-context.ts';

const NO_TRACE = { traceId: null, spanId: null };

const WAIT = /(?:^|[,;\s])wait\s*=\s*"?(\d{1,9})"?(?=$|[,;\s])/i;

/** Returns the seconds of `Prefer: wait=N`, capped; null if absent. A malformed preference is ignored. */
export function waitSecondsOf(headers: IncomingHttpHeaders): number | null {
  const { prefer } = headers;
  if (typeof prefer !== 'string') return null;
  const seconds = WAIT.exec(prefer)?.[1];
  return seconds === undefined ? null : Math.min(Number(seconds), WIRE_LIMITS.waitSeconds);
}

const NO_INPUT = /(?:^|[,;\s])input\s*=\s*"?none"?(?=$|[,;\s])/i;

/** False for `Prefer: input=none`: the caller cannot respond to input requests. */
export function acceptsInputOf({ prefer }: IncomingHttpHeaders): boolean {
  return typeof prefer !== 'string' || !NO_INPUT.test(prefer);
}

/**
 * `X-Trace-ID` wins over `traceparent`, which libraries often add on their own. Malformed values are ignored, unless the
 * route's schema has refused them.
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
