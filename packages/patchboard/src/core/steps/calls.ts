import { reason } from '@patchboard/wire';
import type { Result } from '../result.ts';
import type { Principal } from '../access/principal.ts';
import { denied, failure, messageOf, type Failure } from '../failures.ts';
import type { Peers } from '../peers.ts';
import type { CallFilter, Log, Page } from '../ports.ts';
import { andThen, type MaybePromise } from '../maybe-promise.ts';
import { notWaiting, type Approvals, type OperatorDecision } from './approvals.ts';
import { isOpen, type Call } from '../call/call.ts';
import type { LiveCall } from '../call/live-call.ts';
import type { Runs } from '../call/runs.ts';
import { mayCancelCall, maySeeCall, narrowedTo, onlyAgent } from '../call/visibility.ts';
import { waitsForInput } from '../call/input.ts';
import { waitElsewhere, type WaitElsewhereParts } from '../call/wait-elsewhere.ts';
import type { WaitOptions } from '../call/waiters.ts';
import { notRequested, type GivenInput, type InputResponses } from './input-responses.ts';

export interface CallsParts extends WaitElsewhereParts {
  readonly peers: Peers;
  readonly log: Log;
  readonly approvals: Approvals;
  readonly inputs: InputResponses;
  readonly runs: Pick<Runs, 'find'>;
}

/** Options of `Calls.follow`. */
export interface FollowOptions {
  /** When it aborts, the call is cancelled, and still followed to its end. */
  readonly cancelOn?: AbortSignal | undefined;
  /** When it aborts, `follow` returns, and the call continues. */
  readonly until?: AbortSignal | undefined;
  /** The live call that `submit` returned: lets `follow` reach its end even if the store drops the row. */
  readonly live?: LiveCall | null | undefined;
}

/** The shortest pause between two responses to a client that waits for a call which needs input. */
const INPUT_POLL_MS = 1000;

/** The recorded calls. Each method treats calls that the principal may not see as not existing. */
export class Calls {
  readonly #parts: CallsParts;

  constructor(parts: CallsParts) {
    this.#parts = parts;
  }

  find(principal: Principal, id: string): MaybePromise<Call | undefined> {
    const { peers, lifecycle, store } = this.#parts;
    // Another node may have moved a call that is live here.
    const live = peers.isSingle ? lifecycle.find(id) : undefined;
    const found = live?.call ?? store.findCall(id);
    return andThen(found, (call) => (call !== undefined && maySeeCall(principal, call) ? call : undefined));
  }

  /**
   * As `find`, for requests with the scope `tools:call`: that is for the principal's own calls, and every other one that it sees
   * also needs `calls:read`.
   */
  findReadable(principal: Principal, id: string): MaybePromise<Call | undefined> {
    const hasScope = principal.scopes.has('calls:read');
    return andThen(this.find(principal, id), (call) =>
      hasScope || call?.agentId === principal.agentId ? call : undefined,
    );
  }

  /**
   * Returns the call once it has ended, or as it is after `ms`, when `signal` aborts or when the server closes. `live`: the
   * live call that `submit` returned to this principal.
   */
  wait(
    principal: Principal,
    id: string,
    ms: number,
    { live, ...options }: WaitOptions & { readonly live?: LiveCall | null | undefined } = {},
  ): MaybePromise<Call | undefined> {
    return andThen(live?.call ?? this.find(principal, id), (call) => {
      if (call === undefined || !isOpen(call) || ms <= 0) return call;
      if (options.untilInput === true && waitsForInput(call))
        return live === undefined || live === null ? this.#waitBriefly(call, principal, ms, options) : call;
      const here = this.#parts.lifecycle.find(id)?.call;
      if (here === undefined && this.#parts.peers.isSingle) return call;
      // It may have asked since it was read.
      if (here !== undefined && options.untilInput === true && waitsForInput(here)) return here;
      const waiting =
        here === undefined
          ? waitElsewhere(this.#parts, call, ms, options)
          : this.#parts.waiters.wait(here, ms, options);
      return waiting.then((ended) => ended ?? this.find(principal, id));
    });
  }

  /** Returns the call once it has ended; an open call only if `until` aborted or the server closes. */
  follow(
    principal: Principal,
    id: string,
    { cancelOn, until, live }: FollowOptions = {},
  ): MaybePromise<Call | undefined> {
    const waiting = this.wait(principal, id, Infinity, { signal: until, live });
    if (cancelOn === undefined || !(waiting instanceof Promise)) return waiting;
    const cancel = (): void => {
      // Returns a conflict, which is ignored, if the call ended first.
      this.cancel(principal, id).catch((error: unknown) =>
        this.#parts.log.error('call.cancel_failed', { tool_call_id: id, error: messageOf(error) }),
      );
    };
    cancelOn.addEventListener('abort', cancel, { once: true });
    if (cancelOn.aborted) cancel();
    return waiting.finally(() => cancelOn.removeEventListener('abort', cancel));
  }

  /** See `Store.nodeOf`. Null on a single node. */
  nodeOf(call: Call): number | null {
    return this.#parts.store.nodeOf?.(call) ?? null;
  }

  /** Lists the calls that match `wanted` and that the principal may see. */
  async list(
    principal: Principal,
    wanted: Omit<CallFilter, 'tenant'>,
    cursor: string | null,
    limit: number,
  ): Promise<Page<Call>> {
    const filter: CallFilter & { runId?: string } = {
      ...wanted,
      tenant: principal.tenant,
      ...narrowedTo(principal),
    };
    if (wanted.runId !== undefined && onlyAgent(principal) !== null) {
      const run = await this.#parts.runs.find(principal, wanted.runId);
      filter.runId = run?.id ?? wanted.runId;
    }
    return await this.#parts.store.listCalls(filter, cursor, limit);
  }

  async cancel(principal: Principal, id: string): Promise<Result<Call>> {
    const call = await this.findReadable(principal, id);
    if (call === undefined) return { ok: false, failure: noSuchCall(id) };
    if (!mayCancelCall(principal, call))
      return { ok: false, failure: failure('permission_denied', denied(reason('cancel_from_other_caller'))) };
    return await this.#act(call, over, async (live) =>
      (await this.#parts.lifecycle.cancel(live, principal.id)) ? null : over(live.call),
    );
  }

  async decide(principal: Principal, id: string, decision: OperatorDecision): Promise<Result<Call>> {
    const call = await this.find(principal, id);
    if (call === undefined) return { ok: false, failure: noSuchCall(id) };
    return await this.#act(call, notWaiting, (live) =>
      this.#parts.approvals.decide(live, principal, decision),
    );
  }

  /** The caller's response to an input request. */
  async respond(principal: Principal, id: string, given: GivenInput): Promise<Result<Call>> {
    const call = await this.find(principal, id);
    if (call === undefined) return { ok: false, failure: noSuchCall(id) };
    return await this.#act(
      call,
      ({ state }) => notRequested(id, state.name),
      (live) => this.#parts.inputs.respond(live, principal, given),
    );
  }

  /**
   * Calls `act`, which returns null if it was done, with the live or borrowed call; again if another node took the call
   * meanwhile. `ended`: the failure for a call that has ended.
   */
  async #act(
    found: Call,
    ended: (call: Call) => Failure,
    act: (live: LiveCall) => Promise<Failure | null>,
  ): Promise<Result<Call>> {
    for (let call = found; ;) {
      const live = this.#parts.lifecycle.reach(call);
      if (live === undefined) return { ok: false, failure: ended(call), call };
      const refused = await act(live);
      // Another node may have recorded a response since this one read the call that it manages.
      if (live.call.version >= call.version) ({ call } = live);
      if (refused === null) return { ok: true, value: call };
      if (live.ownership !== 'lost') return { ok: false, failure: refused, call };
    }
  }

  /**
   * The call already waited for input when this request came. A client that does not know input requests asks again at once:
   * it gets the call after a second at the latest.
   */
  async #waitBriefly(
    call: Call,
    principal: Principal,
    ms: number,
    { signal }: WaitOptions,
  ): Promise<Call | undefined> {
    const ended = await this.#parts.waiters.wait(call, Math.min(ms, INPUT_POLL_MS), { signal });
    return ended ?? (await this.find(principal, call.id));
  }

  /** Returns the digest that a call in APPROVAL_REQUIRED would have with other arguments. Records nothing. */
  async previewDecision(principal: Principal, id: string, args: unknown): Promise<Result<string>> {
    const call = await this.find(principal, id);
    if (call === undefined) return { ok: false, failure: noSuchCall(id) };
    const live = this.#parts.lifecycle.reach(call);
    const digest = live === undefined ? notWaiting(call) : await this.#parts.approvals.preview(live, args);
    return typeof digest === 'string'
      ? { ok: true, value: digest }
      : { ok: false, failure: digest, call: live?.call ?? call };
  }
}

function over({ state }: Call): Failure {
  return failure('conflict', reason('call_over', { state: state.name }));
}

/** The failure for an unknown id, and for a call that the principal may not see. */
export function noSuchCall(id: string): Failure {
  return failure('call_not_found', reason('call_unknown', { id }));
}
