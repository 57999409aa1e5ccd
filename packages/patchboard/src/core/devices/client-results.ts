import { reason, type InputFailureCode, type ReasonView } from '@patchboard/wire';
import { attemptRunner, isOpen, type AttemptRunner, type Call, type CallState } from '../call/call.ts';
import { endState } from '../call/end-state.ts';
import { canonicalJson } from '@patchboard/wire/json';
import { failure, foreignText } from '../failures.ts';
import type { Lifecycle } from '../call/lifecycle.ts';
import type { LiveCall } from '../call/live-call.ts';
import { failed, type Outcome } from '../call/outcome.ts';
import type { Digest, Store } from '../ports.ts';
import type { Principal } from '../access/principal.ts';
import type { ToolIndex } from '../tools/tool-index.ts';
import { begun, hasBegun, openClientCall, refuse, type RefusedReport } from './client-call.ts';
import { attemptToken } from './request-id.ts';
import { settle, type SettlementParts } from '../settlement/settlement.ts';

/** Why the client failed. */
interface ClientError {
  readonly message?: string;
  readonly recommendations?: readonly string[];
  /** The tool asked its caller and got no input. Default: `tool_failed`. */
  readonly code?: InputFailureCode;
}

/** The result of a call as reported by the client that ran it. */
export interface ClientResult {
  readonly status: 'SUCCEEDED' | 'FAILED';
  readonly result: unknown;
  readonly error: ClientError | null;
  readonly attemptToken: string | null;
}

/** A result that could not be decoded. */
export interface UnreadableResult {
  readonly attemptToken: string;
  /** Why the result is invalid. */
  readonly why: readonly ReasonView[];
  /** The text as sent, to recognise a repeated submission. */
  readonly text: string;
}

/** The outcome of a client's report. `repeated`: the same report was accepted before. */
export type ReportResult =
  { readonly ok: true; readonly call: Call; readonly repeated: boolean } | RefusedReport;

export interface ClientResultsParts extends SettlementParts {
  readonly store: Store;
  readonly lifecycle: Lifecycle;
  readonly toolIndex: ToolIndex;
  readonly digest: Digest;
  readonly progress: (live: LiveCall, data: unknown) => void;
}

/** Accepts acknowledgements, progress and results from the clients that run calls, over any transport. */
export class ClientResults {
  readonly #parts: ClientResultsParts;

  constructor(parts: ClientResultsParts) {
    this.#parts = parts;
  }

  /**
   * Records that the client has begun. Idempotent for one program: two of a client may have got the call before one of them
   * acknowledged it, and the second is refused. Refused for a call that was sent to a device: that one runs it.
   */
  async acknowledge(
    principal: Principal,
    id: string,
    token: string | null,
    program: string | null = null,
  ): Promise<ReportResult> {
    for (;;) {
      const found = await openClientCall(this.#parts, principal, id, token);
      if ('ok' in found) return found;
      const { device, program: running = null } = runnerOf(found.call);
      if (device !== undefined)
        return refuse(failure('conflict', reason('call_runs_on_device', { device })), found.call);
      if (hasBegun(found.call))
        return running === program
          ? { ok: true, call: found.call, repeated: true }
          : refuse(failure('conflict', reason('call_runs_in_other_program')), found.call);
      // It may have ended since it was found.
      if (!isOpen(found.call)) continue;
      if (await this.#parts.lifecycle.advance(found, [begun(found.call, program)])) {
        return { ok: true, call: found.call, repeated: false };
      }
    }
  }

  async progress(
    principal: Principal,
    id: string,
    token: string | null,
    data: unknown,
  ): Promise<ReportResult> {
    const found = await openClientCall(this.#parts, principal, id, token);
    if ('ok' in found) return found;
    this.#parts.progress(found, data);
    return { ok: true, call: found.call, repeated: false };
  }

  /** Accepts one result per call. The same result again returns `repeated`; a different one is a conflict. */
  async submit(principal: Principal, id: string, given: ClientResult): Promise<ReportResult> {
    const { status, result, error } = given;
    const resultDigest = this.#parts.digest.sha256(canonicalJson({ status, result, error }));
    for (;;) {
      const found = await openClientCall(this.#parts, principal, id, given.attemptToken);
      if ('ok' in found) return repeatedOr(found, resultDigest);
      const attempt = attemptToken(found.call);
      const tool = found.tool ?? this.#parts.toolIndex.find(found.call.tenant, found.call.toolName);
      const end = await settle(this.#parts, found, tool, outcomeOf(given), resultDigest);
      // While hooks ran, the call may have ended or been reassigned to another device.
      if (!isOpen(found.call) || attemptToken(found.call) !== attempt) continue;
      if (await this.#parts.lifecycle.advance(found, endingWith(found.call, end)))
        return { ok: true, call: found.call, repeated: false };
    }
  }

  /**
   * Fails the call because the client's result of the current attempt cannot be decoded. The outcome is `unknown`: the
   * work may have taken effect.
   */
  async reject(principal: Principal, id: string, given: UnreadableResult): Promise<ReportResult> {
    const resultDigest = this.#parts.digest.sha256(given.text);
    const error = failure('result_invalid', given.why, { outcome: 'unknown' });
    for (;;) {
      const found = await openClientCall(this.#parts, principal, id, given.attemptToken);
      if ('ok' in found) return repeatedOr(found, resultDigest);
      if (!isOpen(found.call)) continue;
      const end = endState(failed(error), resultDigest);
      if (await this.#parts.lifecycle.advance(found, endingWith(found.call, end)))
        return { ok: true, call: found.call, repeated: false };
    }
  }
}

/** The device that the call was sent to, or the program that has begun it. */
function runnerOf({ state }: Call): AttemptRunner {
  return 'attempt' in state ? attemptRunner(state) : {};
}

function repeatedOr(refusal: RefusedReport, resultDigest: string): ReportResult {
  const { call } = refusal;
  if (call !== null && 'resultDigest' in call.state && call.state.resultDigest === resultDigest) {
    return { ok: true, call, repeated: true };
  }
  return refusal;
}

/** A result without an acknowledgement implies that the client had begun. */
function endingWith(call: Call, end: CallState): CallState[] {
  return hasBegun(call) ? [end] : [begun(call, null), end];
}

function outcomeOf({ status, result, error }: ClientResult): Outcome {
  if (status === 'SUCCEEDED') return { kind: 'ok', value: result };
  const extra = error?.recommendations === undefined ? {} : { recommendations: error.recommendations };
  const message = error?.message;
  const why = message === undefined ? reason('client_reported_failure') : foreignText(message);
  return failed(failure(error?.code ?? 'tool_failed', why, extra));
}
