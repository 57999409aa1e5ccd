import type { Failure } from '../failures.ts';
import type { Call } from './call.ts';
import type { CallOrigin } from './call-origin.ts';
import type { InProcessCaller, LiveCall } from './live-call.ts';

/** What an agent asks for, whatever API it came through. An API leaves out what it knows nothing of. */
export interface CallRequest {
  readonly toolName: string;
  readonly runId: string;
  readonly args: unknown;
  /** The device that is to run it. */
  readonly target?: string | null;
  readonly idempotencyKey?: string | null;
  readonly traceId?: string | null;
  readonly spanId?: string | null;
  readonly replayOf?: string | null;
  /** The call on whose behalf a sub-agent asks. */
  readonly parentCallId?: string;
  /** Chosen by an agent in this process, which wrote it down before it asked. Default: a new one. */
  readonly callId?: string;
  /** How long the caller gives it to run; never longer than the tool's own limit. */
  readonly timeoutMs?: number;
  readonly origin?: CallOrigin;
  /** An agent in this process; absent over the network. */
  readonly caller?: InProcessCaller;
}

export type Submitted =
  | {
      readonly kind: 'accepted';
      readonly call: Call;
      /** The call as it stands from now on, also once the store has dropped it; null: it had ended before. */
      readonly live: LiveCall | null;
      readonly duplicate: boolean;
      /** The result is an earlier one that was given again, so old. */
      readonly cachedAgeMs?: number;
    }
  /** Recorded with its ending: DENIED, or FAILED where the caller keeps what is refused. */
  | { readonly kind: 'denied'; readonly call: Call; readonly failure: Failure }
  /** Not recorded as a call; one ledger row says that it was refused, unless a flood of them is. */
  | { readonly kind: 'refused'; readonly failure: Failure };
