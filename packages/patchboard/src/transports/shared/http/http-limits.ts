import { WIRE_LIMITS } from '@patchboard/wire';
import { checkedLimits } from '../../../core/limits.ts';

/** Limits of the HTTP server. */
export interface HttpLimits {
  /** Upper bound on the heap bytes of all request bodies; a share of the heap size bounds it too. */
  readonly heldBodyBytes: number;
  readonly jsonDepth: number;
  /** Values in one body: strings, numbers, literals, objects and arrays together. */
  readonly jsonValues: number;
  /** A stream is cut off if its client leaves more than this unread. */
  readonly streamBufferBytes: number;
  /** Interval of the comments that keep an idle stream alive. */
  readonly heartbeatMs: number;
  /** For the client to send the whole request. */
  readonly requestTimeoutMs: number;
  readonly headersTimeoutMs: number;
  /** An idle socket is closed after this, unless its request waits for a response. */
  readonly socketIdleMs: number;
  readonly keepAliveMs: number;
  /** Open connections; `Connections` selects which to close or refuse. */
  readonly connections: number;
  /** Above this event loop delay new requests are refused. */
  readonly eventLoopDelayMs: number;
}

export const DEFAULT_HTTP_LIMITS: HttpLimits = {
  heldBodyBytes: 1024 * 1024 * 1024,
  jsonDepth: WIRE_LIMITS.jsonDepth,
  jsonValues: 100_000,
  streamBufferBytes: 1_048_576,
  heartbeatMs: 15_000,
  requestTimeoutMs: 30_000,
  headersTimeoutMs: 10_000,
  socketIdleMs: 120_000,
  keepAliveMs: 72_000,
  connections: 20_000,
  eventLoopDelayMs: 1000,
};

export function resolveHttpLimits(given: Partial<HttpLimits> = {}): Readonly<HttpLimits> {
  return checkedLimits({ ...DEFAULT_HTTP_LIMITS, ...given });
}
