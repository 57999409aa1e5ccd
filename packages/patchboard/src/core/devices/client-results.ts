import { reason } from '@patchboard/wire';
import type { CallState } from '../call/call.ts';
import { attemptsOf, isOpen, runsInProcess, type Call } from '../call/call.ts';
import { endState } from '../call/end-state.ts';
import { canonicalJson } from '../json/canonical-json.ts';
import { denied, failure, type Failure } from '../failures.ts';
import type { Lifecycle } from '../call/lifecycle.ts';
import type { LiveCall } from '../call/live-call.ts';
import { failed, type Outcome } from '../call/outcome.ts';
import type { Digest, Store } from '../ports.ts';
import type { Principal } from '../access/principal.ts';
import type { Registry } from '../tools/registry.ts';
import { attemptToken } from './request-id.ts';
import { settle, type SettlementParts } from '../settlement/settlement.ts';

/** What a client says came out of a call. */
export interface ClientResult {
  readonly status: 'SUCCEEDED' | 'FAILED';
  readonly result: unknown;
  readonly error: { readonly message: string; readonly recommendations?: readonly string[] } | null;
  readonly attemptToken: string | null;
}

/** A result that could not be decoded. */
export interface UnreadableResult {
  readonly attemptToken: string;
  /** What is wrong with it. */
  readonly reason: string;
  /** As it was sent, to recognise the same again. */
  readonly text: string;
}

export type ClientAnswer =
  | { readonly ok: true; readonly call: Call; readonly repeated: boolean }
  | { readonly ok: false; readonly failure: Failure; readonly call: Call | null };

export interface ClientResultsParts extends SettlementParts {
  readonly store: Store;
  readonly lifecycle: Lifecycle;
  readonly registry: Registry;
  readonly digest: Digest;
  readonly progress: (live: LiveCall, data: unknown) => void;
}

/** Word from the clients that run calls, over whatever they are connected by. */
export class ClientResults {
  readonly #parts: ClientResultsParts;

  constructor(parts: ClientResultsParts) {
    this.#parts = parts;
  }

  /** The client has begun. Saying so twice is fine. */
  async acknowledge(principal: Principal, id: string, token: string | null): Promise<ClientAnswer> {
    for (;;) {
      const found = await this.#openCall(principal, id, token);
      if ('ok' in found) return found;
      if (found.call.state.name === 'EXECUTING') return { ok: true, call: found.call, repeated: true };
      // It may have ended since it was found.
      if (!isOpen(found.call)) continue;
      if (await this.#parts.lifecycle.advance(found, [executing(found.call)])) {
        return { ok: true, call: found.call, repeated: false };
      }
    }
  }

  async progress(
    principal: Principal,
    id: string,
    token: string | null,
    data: unknown,
  ): Promise<ClientAnswer> {
    const found = await this.#openCall(principal, id, token);
    if ('ok' in found) return found;
    this.#parts.progress(found, data);
    return { ok: true, call: found.call, repeated: false };
  }

  /** Accepted once. The same again is told that it stands; anything else is told what stands. */
  async submit(principal: Principal, id: string, given: ClientResult): Promise<ClientAnswer> {
    const { status, result, error } = given;
    const resultDigest = this.#parts.digest.sha256(canonicalJson({ status, result, error }));
    for (;;) {
      const found = await this.#openCall(principal, id, given.attemptToken);
      if ('ok' in found) return sameAgain(found, resultDigest);
      const asked = attemptToken(found.call);
      const tool = found.tool ?? this.#parts.registry.find(found.call.tenant, found.call.toolName);
      const end = await settle(this.#parts, found, tool, outcomeOf(given), resultDigest);
      // Hooks take their time: it may have ended meanwhile, or be another device's.
      if (!isOpen(found.call) || attemptToken(found.call) !== asked) continue;
      if (await this.#parts.lifecycle.advance(found, endingWith(found.call, end)))
        return { ok: true, call: found.call, repeated: false };
    }
  }

  /**
   * What the client sent as the result of the current attempt cannot be read. The call ends at once: the client has
   * nothing better to send, and the work may have had its effect.
   */
  async reject(principal: Principal, id: string, given: UnreadableResult): Promise<ClientAnswer> {
    const resultDigest = this.#parts.digest.sha256(given.text);
    const error = failure('result_invalid', given.reason, { outcome: 'unknown' });
    for (;;) {
      const found = await this.#openCall(principal, id, given.attemptToken);
      if ('ok' in found) return sameAgain(found, resultDigest);
      if (!isOpen(found.call)) continue;
      const end = endState(failed(error), resultDigest);
      if (await this.#parts.lifecycle.advance(found, endingWith(found.call, end)))
        return { ok: true, call: found.call, repeated: false };
    }
  }

  /** The live call, if this client may speak of it now. */
  async #openCall(principal: Principal, id: string, token: string | null): Promise<LiveCall | Refusal> {
    const live = this.#parts.lifecycle.find(id);
    const call = live?.call ?? (await this.#parts.store.findCall(id));
    if (call === undefined || call.tenant !== principal.tenant) {
      return refuse(failure('call_not_found', reason('call_unknown', { id })), null);
    }
    if (runsInProcess(call))
      return refuse(failure('conflict', reason('call_runs_on_server', { tool: call.toolName })), call);
    if (principal.clientId !== null && principal.clientId !== call.clientId) {
      return refuse(failure('permission_denied', denied(reason('call_of_other_client'))), null);
    }
    if (live === undefined || !isOpen(call)) {
      return refuse(failure('conflict', reason('call_ended', { state: call.state.name })), call);
    }
    if (call.state.name === 'APPROVAL_REQUIRED') {
      return refuse(failure('conflict', reason('call_waits_for_approval')), call);
    }
    if (token !== null && token !== attemptToken(call)) {
      return refuse(failure('conflict', reason('call_token_stale')), call);
    }
    return live;
  }
}

type Refusal = Extract<ClientAnswer, { ok: false }>;

function refuse(reason: Failure, call: Call | null): Refusal {
  return { ok: false, failure: reason, call };
}

function sameAgain(refusal: Refusal, resultDigest: string): ClientAnswer {
  const { call } = refusal;
  if (call !== null && 'resultDigest' in call.state && call.state.resultDigest === resultDigest) {
    return { ok: true, call, repeated: true };
  }
  return refusal;
}

/** A client that did not say that it had begun has begun all the same. */
function endingWith(call: Call, end: CallState): CallState[] {
  return call.state.name === 'EXECUTING' ? [end] : [executing(call), end];
}

function executing(call: Call): CallState {
  if (!isOpen(call)) throw new Error(`call ${call.id} has ended`);
  const attempt = Math.max(1, attemptsOf(call));
  return { name: 'EXECUTING', deadlineAt: call.state.deadlineAt, attempt, cause: null };
}

function outcomeOf({ status, result, error }: ClientResult): Outcome {
  if (status === 'SUCCEEDED') return { kind: 'ok', value: result };
  const extra = error?.recommendations === undefined ? {} : { recommendations: error.recommendations };
  return failed(failure('tool_failed', error?.message ?? reason('client_reported_failure'), extra));
}
