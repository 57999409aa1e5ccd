import { reason, type Reason } from '@patchboard/wire';
import { isGrantRule } from '../access/grants.ts';
import { failure, storeFailure, ToolFailure, type Failure } from '../failures.ts';
import { canonicalJson } from '@patchboard/wire/json';
import { jsonCopy } from '../json/json-copy.ts';
import { utf8Bytes } from '../json/utf8-bytes.ts';
import { inputGivenRow, inputRequiredRow, type LedgerDraft } from '../ledger/ledger.ts';
import type { Limits } from '../limits.ts';
import type { Clock, Digest } from '../ports.ts';
import { attemptRunner, isOpen, type Call, type CallState } from './call.ts';
import { endState } from './end-state.ts';
import {
  INPUT_CONTENT_BYTES,
  inputCharacters,
  MAX_INPUT_ROUNDS,
  type InputRequest,
  type InputRound,
  type RequestsByKey,
  type StoredResponse,
} from './input.ts';
import { kindProblem, type InputChecks } from './input-checks.ts';
import { schemaOf, type SamplingParams } from './input-kinds.ts';
import type { Lifecycle } from './lifecycle.ts';
import type { MoveExtra } from './lifecycle-parts.ts';
import type { LiveCall } from './live-call.ts';
import { fittingResponse, type OfferedInputs } from './offered-inputs.ts';
import { roomProblem } from './open-calls.ts';
import { failed } from './outcome.ts';

export interface InputRequestsParts {
  readonly lifecycle: Lifecycle;
  readonly clock: Clock;
  readonly limits: Limits;
  readonly checks: InputChecks;
  readonly digest: Digest;
  /** Called once the request is durable. */
  readonly inputRequired: (live: LiveCall) => void;
  /** Called in place of it if every response came with the request of the call: the attempt is over. */
  readonly inputSupplied: () => void;
}

/** The requests of one round. `held`: the attempt waits for the response. */
export interface RequestedInput {
  readonly requests: RequestsByKey;
  readonly held: boolean;
  readonly carry?: unknown;
  /** True: a write that fails is repeated, because the tool cannot ask again. A client repeats its request itself. */
  readonly isRepeated?: boolean;
}

/** The pause before a write that failed is repeated. */
const REPEAT_MS = 500;

/**
 * What became of a recorded request. `given`: the responses came with the request of the call, and the tool can run again;
 * `ended`: one of them declined.
 */
export type RecordedInput = 'open' | 'given' | 'ended';

const UNKNOWN = { outcome: 'unknown' } as const;

/** Records what running tools ask their callers for. */
export class InputRequests {
  readonly #parts: InputRequestsParts;

  constructor(parts: InputRequestsParts) {
    this.#parts = parts;
  }

  /**
   * Moves an executing call to INPUT_REQUIRED. Throws `ToolFailure` with `input_unavailable` if the caller cannot be
   * asked. Null: another move of the call was committed first.
   */
  async record(live: LiveCall, given: RequestedInput): Promise<RecordedInput | null> {
    const { lifecycle, clock, limits } = this.#parts;
    const { call } = live;
    const problem = this.#problem(live, given);
    if (problem !== null) throw new ToolFailure(problem);
    const { state } = call;
    if (state.name !== 'EXECUTING') return null;
    const now = clock.now();
    const expiresAt = now + limits.inputExpiryMs;
    const times = { now, expiresAt, remainingMs: state.deadlineAt - now, attempt: state.attempt };
    const rounds = this.#rounds(call, given, times);
    const open = rounds.filter(({ response }) => response === null);
    const kind = kindProblem(call.toolName, call.acceptsInput, open);
    if (kind !== null) throw new ToolFailure(kind);
    const full = roomProblem(lifecycle.open, limits, call.tenant, inputCharacters({ inputs: rounds }));
    if (full !== null) throw new ToolFailure(unavailable(full));
    const declined = rounds.some(isDeclined) ? failed(failure('input_declined', undefined, UNKNOWN)) : null;
    const next: CallState = {
      name: 'INPUT_REQUIRED',
      deadlineAt: open.length > 0 ? expiresAt : now + limits.queueWaitMs,
      attempt: state.attempt,
      held: given.held,
      ...attemptRunner(state),
    };
    const states = declined === null ? [next] : [next, endState(declined, null)];
    const extra: MoveExtra = {
      inputs: [...call.inputs, ...rounds],
      ...(call.offered === undefined ? {} : { offered: withoutKeys(call.offered, rounds) }),
      rows: (moved) => rounds.flatMap((round) => this.#rows(moved, round, now)),
    };
    const isRecorded = await this.#advance(live, states, extra, given.isRepeated === true);
    if (!isRecorded) return null;
    if (declined !== null) {
      live.stop.fire(declined);
      return 'ended';
    }
    if (open.length === 0) {
      this.#parts.inputSupplied();
      return 'given';
    }
    this.#parts.inputRequired(live);
    return 'open';
  }

  /** Returns false if another move was committed first, or the call was stopped while the write was repeated. */
  async #advance(
    live: LiveCall,
    states: readonly CallState[],
    extra: MoveExtra,
    isRepeated: boolean,
  ): Promise<boolean> {
    const { lifecycle, clock } = this.#parts;
    for (;;) {
      try {
        return await lifecycle.advance(live, states, extra);
      } catch (error) {
        if (!isRepeated || storeFailure(error) === null) throw error;
      }
      await new Promise<void>((resolve) => clock.after(REPEAT_MS, resolve));
      if (live.stop.reason !== null || !isOpen(live.call) || lifecycle.isClosed) return false;
    }
  }

  /** Why the call cannot ask for that; null if it can. */
  #problem({ call, tool }: LiveCall, { requests, carry }: RequestedInput): Failure | null {
    // The operator has seen what runs: input may change it only if the contract says so.
    if (wasApproved(call) && tool?.annotations.asks_input !== true)
      return unavailable(reason('input_of_approved_call', { tool: call.toolName }));
    if ((call.inputs.at(-1)?.round ?? 0) >= MAX_INPUT_ROUNDS)
      return unavailable(reason('input_rounds_used', { rounds: MAX_INPUT_ROUNDS }));
    if (carry !== undefined && utf8Bytes(JSON.stringify(carry) ?? '') > INPUT_CONTENT_BYTES)
      return invalid(reason('input_carry_too_large', { bytes: INPUT_CONTENT_BYTES }));
    return this.#parts.checks.requestsProblem(requests);
  }

  #rounds(
    { inputs, offered = {} }: Call,
    { requests, held, carry }: RequestedInput,
    { now, ...times }: Pick<InputRound, 'expiresAt' | 'remainingMs' | 'attempt'> & { readonly now: number },
  ): InputRound[] {
    const carryJson = JSON.stringify(carry) as string | undefined;
    const round = (inputs.at(-1)?.round ?? 0) + 1;
    return Object.entries(requests).map(([key, request], index) => ({
      id: `in_${inputs.length + index + 1}`,
      key,
      round,
      message: request.message,
      schema: schemaOf(request),
      url: request.url ?? null,
      ...(request.sampling === undefined ? {} : { sampling: jsonCopy(request.sampling) as SamplingParams }),
      ...(request.roots === undefined ? {} : { roots: request.roots }),
      held,
      handlesDecline: request.handlesDecline === true,
      requestedAt: now,
      ...times,
      ...(carryJson === undefined || index > 0 ? {} : { carryJson }),
      response: held ? null : this.#offeredResponse(offered, key, request, now),
    }));
  }

  /** What came with the request of the call, if it fits. */
  #offeredResponse(
    offered: OfferedInputs,
    key: string,
    request: InputRequest,
    at: number,
  ): StoredResponse | null {
    const response = fittingResponse(this.#parts.checks, offered, key, request);
    return response === null ? null : { ...response, at };
  }

  #rows(moved: Call, round: InputRound, at: number): LedgerDraft[] {
    const required = inputRequiredRow(moved, round, this.#hashOf(round), at);
    if (round.response === null) return [required];
    return [required, inputGivenRow(moved, round, contentHash(this.#parts.digest, round.response), at)];
  }

  /** Goes into the ledger in place of the texts. */
  #hashOf({ message, schema, url, sampling }: InputRound): string {
    const more = sampling === undefined ? {} : { sampling };
    return this.#parts.digest.sha256(canonicalJson({ message, schema, url, ...more }));
  }
}

/** The hash of the content that goes into the ledger; undefined if there is none. */
export function contentHash(digest: Digest, { contentJson }: StoredResponse): string | undefined {
  return contentJson === null ? undefined : digest.sha256(canonicalJson(JSON.parse(contentJson)));
}

function withoutKeys(offered: OfferedInputs, rounds: readonly InputRound[]): OfferedInputs {
  const used = new Set(rounds.map(({ key }) => key));
  return Object.fromEntries(Object.entries(offered).filter(([key]) => !used.has(key)));
}

function isDeclined({ response, handlesDecline }: InputRound): boolean {
  return response?.action === 'decline' && !handlesDecline;
}

function unavailable(why: Reason): Failure {
  return failure('input_unavailable', why);
}

function invalid(why: Reason): Failure {
  return failure('tool_failed', why);
}

/** An operator has seen the call, or granted it in advance. */
function wasApproved({ approval, decision }: Call): boolean {
  return approval !== null || isGrantRule(decision.rule);
}
