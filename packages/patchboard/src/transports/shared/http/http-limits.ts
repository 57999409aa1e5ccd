import { WIRE_LIMITS } from '@patchboard/wire';
import { checkedLimits } from '../../../core/limits.ts';

/** Everything the HTTP APIs bound. Resolved once; below that nothing is optional. */
export interface HttpLimits {
  /** Upper bound on what the bodies of all requests under way may take of the heap, whose own size bounds it too. */
  readonly heldBodyBytes: number;
  readonly jsonDepth: number;
  /** Values in one body: strings, numbers, literals, objects and arrays together. */
  readonly jsonValues: number;
  /** What a reader of a stream may leave unread before it is dropped. */
  readonly streamBufferBytes: number;
  /** A comment this often keeps a quiet stream alive. */
  readonly heartbeatMs: number;
  /** To send a whole request. */
  readonly requestTimeoutMs: number;
  readonly headersTimeoutMs: number;
  /** A socket on which nothing moves is cut, unless somebody waits there for an answer. */
  readonly socketIdleMs: number;
  readonly keepAliveMs: number;
  /** Connections open at once; see `Connections` for which are turned away. */
  readonly connections: number;
  /** When the event loop is this late, new requests are refused. */
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
