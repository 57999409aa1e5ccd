import type { IncomingHttpHeaders } from 'node:http';
import { PEER_ID_PATTERN, WIRE_LIMITS } from '@patchboard/wire';

const WAIT = /(?:^|[,;\s])wait\s*=\s*"?(\d{1,9})"?(?=$|[,;\s])/i;
const TRACEPARENT = /^[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}(?:-|$)/;
const NO_TRACE = '0'.repeat(32);

/** Seconds of `Prefer: wait=N`, at most what we grant; 0 when it asks for none. A preference is never an error. */
export function waitSecondsOf(headers: IncomingHttpHeaders): number {
  const { prefer } = headers;
  if (typeof prefer !== 'string') return 0;
  const seconds = WAIT.exec(prefer)?.[1];
  return seconds === undefined ? 0 : Math.min(Number(seconds), WIRE_LIMITS.waitSeconds);
}

/** `X-Trace-ID` is said on purpose and wins; `traceparent` is often put in by a library. What is malformed is no trace. */
export function traceIdOf(headers: IncomingHttpHeaders): string | null {
  const given = headers['x-trace-id'];
  if (typeof given === 'string' && PEER_ID_PATTERN.test(given)) return given;
  const parent = headers['traceparent'];
  if (typeof parent !== 'string') return null;
  const traceId = TRACEPARENT.exec(parent)?.[1];
  return traceId === undefined || traceId === NO_TRACE ? null : traceId;
}

export function idempotencyKeyOf(headers: IncomingHttpHeaders): string | null {
  const key = headers['idempotency-key'];
  return typeof key === 'string' ? key : null;
}
