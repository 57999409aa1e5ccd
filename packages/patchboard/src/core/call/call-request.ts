import type { Failure } from '../failures.ts';
import type { Call } from './call.ts';
import type { CallOrigin } from './call-origin.ts';
import type { AcceptedInput } from './input-kinds.ts';
import type { ResponsesByKey } from './offered-inputs.ts';
import type { InProcessCaller, LiveCall } from './live-call.ts';

/** A request to call a tool, from any API. Each API sets the optional members that it supports. */
export interface CallRequest {
  readonly toolName: string;
  readonly runId: string;
  readonly args: unknown;
  /** The JSON text of `args`, if the API has it. Ignored once `args` is another value than `of`. */
  readonly argsText?: { readonly of: unknown; readonly json: string } | undefined;
  /**
   * False: the API generated `runId`, because the caller named no run. The calls share that name only, so the limit of a
   * run's concurrent calls does not apply. Default: true.
   */
  readonly countsInRun?: false;
  /** The device that must run it; null or absent: any. */
  readonly target?: string | null;
  readonly idempotencyKey?: string | null;
  readonly traceId?: string | null;
  readonly spanId?: string | null;
  readonly replayOf?: string | null;
  /** The call that a sub-agent works for. */
  readonly parentCallId?: string;
  /** Id for the new call, chosen by an agent in this process that journals it before submitting. Default: a new id. */
  readonly callId?: string;
  /** The caller's time limit for the run; the tool's own limit applies if it is shorter. */
  readonly timeoutMs?: number;
  /** The input requests that the caller can respond to. Default: true, which means forms and links. */
  readonly acceptsInput?: AcceptedInput;
  /**
   * Responses to input requests that the tool is going to return, by key. Those that fit are used without asking the
   * caller, each once; unknown keys are ignored. Not part of what an idempotency key compares.
   */
  readonly inputs?: ResponsesByKey;
  readonly origin?: CallOrigin;
  /** An agent in this process; absent over the network. */
  readonly caller?: InProcessCaller;
}

export type Submitted =
  | {
      readonly kind: 'accepted';
      readonly call: Call;
      /** The open call, which stays current even if the store drops the row; null if the call has ended. */
      readonly live: LiveCall | null;
      readonly duplicate: boolean;
      /** Age of the result, if it came from the response cache. */
      readonly cachedAgeMs?: number;
    }
  /** Recorded in an end state: DENIED, or FAILED if the caller records refusals as calls (`keepsRefused`). */
  | { readonly kind: 'denied'; readonly call: Call; readonly failure: Failure }
  /** Not recorded as a call. One ledger row records the refusal, except during a flood of refusals. */
  | { readonly kind: 'refused'; readonly failure: Failure };
