import { reason, type ReasonView } from '@patchboard/wire';
import { isOpen, type Call } from '../../core/call/call.ts';
import { failure, foreignText, type Failure } from '../../core/failures.ts';
import type { CallRequest } from '../../core/call/call-request.ts';
import type { InProcessCaller, LiveCall } from '../../core/call/live-call.ts';
import type { ToolResultBlock, ToolUseBlock } from '../../protocols/messages.ts';
import { failed, type BadOutcome } from '../../core/call/outcome.ts';
import type { Principal } from '../../core/access/principal.ts';
import { toRecord, type ToolCallRecord } from '../../sdk/tool-call-record.ts';
import { refusedToolResult, toToolResult, type ToolResultOptions } from '../../sdk/tool-result.ts';
import type { AgentHost } from '../agent-host.ts';
import type { CallEventEmitter } from '../events/call-event-emitter.ts';
import { NOT_GIVEN } from '../text-cycle/tool-call-rules.ts';

/** A tool request with its call id, and the reason if it will not be run. */
export type PlannedRequest = ToolUseBlock & {
  /** Why the request is invalid. */
  readonly problem?: string;
  /** What `problem` was made from; absent if the dialect is not ours. */
  readonly reasons?: readonly ReasonView[];
  /** True if the agent was not given the tool or may never call it: the call is denied. */
  readonly withheld?: boolean;
};

export interface ToolRequestsParts {
  readonly host: AgentHost;
  readonly runId: string;
  readonly principal: Principal;
  readonly caller: InProcessCaller;
  /** The call for which this sub-agent works; null if it is not a sub-agent. */
  readonly parentCallId: string | null;
  /** Null: the time limit of each tool. */
  readonly timeoutMs: number | null;
  /** Whether a listener of the agent can respond to input requests. */
  readonly acceptsInput: () => boolean;
  readonly callEvents: CallEventEmitter;
  readonly results: ToolResultOptions;
}

export interface RequestResult {
  readonly block: ToolResultBlock;
  /** Null if no call could be recorded. */
  readonly record: ToolCallRecord | null;
}

/** Thrown when the board closes during a call; a resume continues from the stored state. */
export class Suspended extends Error {}

/** Submits a model's requests to the engine. Each gets a record and a result. */
export class ToolRequests {
  readonly #parts: ToolRequestsParts;

  constructor(parts: ToolRequestsParts) {
    this.#parts = parts;
  }

  /** Runs a request until it has ended, and cancels it on abort. The engine limits the concurrency. */
  async run(request: PlannedRequest, signal: AbortSignal): Promise<RequestResult> {
    const recorded = await this.#record(request, signal);
    if ('code' in recorded) {
      const { results } = this.#parts;
      return { block: refusedToolResult(request.id, recorded, results), record: null };
    }
    return await this.follow(request, recorded.call, signal, recorded.live);
  }

  /** Follows a recorded call until it has ended. */
  async follow(
    request: ToolUseBlock,
    call: Call,
    signal: AbortSignal,
    live: LiveCall | null = null,
  ): Promise<RequestResult> {
    const { host, callEvents, results, principal, caller } = this.#parts;
    const { closing } = host.activeWork;
    if (closing.aborted) throw new Suspended();
    callEvents.began(call);
    // Another node may run the call, and ask there: the one that a client of the call is connected to.
    const stop = isOpen(call) ? host.engine.followElsewhere(call, caller) : null;
    let ended: Call | undefined;
    try {
      ended = await host.engine.calls.follow(principal, call.id, { cancelOn: signal, until: closing, live });
    } finally {
      stop?.();
    }
    if (ended === undefined) throw new Error(`call ${call.id} is gone`);
    if (isOpen(ended)) throw new Suspended();
    const record = toRecord(ended);
    callEvents.ended(ended, record);
    return { block: toToolResult(request.id, record, results), record };
  }

  /** Records the call directly in a terminal state. Returns null if its run accepts no more calls. */
  async recordEnded(request: ToolUseBlock, outcome: BadOutcome): Promise<Call | null> {
    const { host, principal } = this.#parts;
    return await host.engine.recordEnded(this.#callRequest(request), principal, outcome);
  }

  async #record(request: PlannedRequest, signal: AbortSignal): Promise<Recorded | Failure> {
    const { host, principal } = this.#parts;
    if (host.activeWork.closing.aborted) throw new Suspended();
    const over = request.withheld === true ? null : outcomeBeforeSubmit(request, signal);
    if (over !== null) {
      const call = await this.recordEnded(request, over);
      return call === null ? over.failure : { call, live: null };
    }
    const submitted = await host.engine.submit(this.#callRequest(request), principal);
    if (submitted.kind === 'accepted') return submitted;
    if (submitted.kind === 'denied') return { call: submitted.call, live: null };
    if (host.activeWork.closing.aborted) throw new Suspended();
    return submitted.failure;
  }

  #callRequest({ name, input, callId, withheld }: PlannedRequest): CallRequest {
    const { runId, parentCallId, timeoutMs, acceptsInput } = this.#parts;
    const caller = withheld === true ? withheldFrom(this.#parts.caller) : this.#parts.caller;
    return {
      callId,
      toolName: name,
      runId,
      args: input ?? {},
      acceptsInput: acceptsInput(),
      ...(parentCallId === null ? {} : { parentCallId }),
      ...(timeoutMs === null ? {} : { timeoutMs }),
      caller,
    };
  }
}

interface Recorded {
  readonly call: Call;
  readonly live: LiveCall | null;
}

/** Adds a permission that denies the tool, after the agent's own permissions. */
function withheldFrom(caller: InProcessCaller): InProcessCaller {
  return { ...caller, permissions: [...(caller.permissions ?? []), NOT_GIVEN] };
}

/** Returns the outcome of a request that must not be submitted, or null. */
function outcomeBeforeSubmit({ problem, reasons }: PlannedRequest, signal: AbortSignal): BadOutcome | null {
  if (problem !== undefined) return failed(failure('input_invalid', reasons ?? foreignText(problem)));
  if (!signal.aborted) return null;
  const why = reason('agent_interrupted');
  return { kind: 'cancelled', failure: failure('cancelled', why, { outcome: 'not_started' }) };
}
