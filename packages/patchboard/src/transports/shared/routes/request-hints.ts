import type { IncomingHttpHeaders } from 'node:http';
import { INPUT_KINDS, PEER_ID_PATTERN, WIRE_LIMITS } from '@patchboard/wire';
import { normalizedInput, type AcceptedInput } from '../../../core/call/input-kinds.ts';
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

const INPUT = /(?:^|[,;\s])input\s*=\s*(?:"([a-z\s]*)"|([a-z]+))(?=$|[,;\s])/i;

/**
 * Returns the input requests that the caller can respond to: `Prefer: input=none`, or a list of kinds as in
 * `Prefer: input="form url sampling"`. A malformed preference is ignored, and so are unknown kinds.
 */
export function acceptsInputOf({ prefer }: IncomingHttpHeaders): AcceptedInput {
  if (typeof prefer !== 'string') return true;
  const [, quoted, token] = INPUT.exec(prefer) ?? [];
  const words = (quoted ?? token ?? '').toLowerCase().split(/\s+/);
  if (words.includes('none')) return false;
  const kinds = INPUT_KINDS.filter((kind) => words.includes(kind));
  return kinds.length === 0 ? true : normalizedInput(kinds);
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
