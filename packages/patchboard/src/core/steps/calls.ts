import { reason } from '@patchboard/wire';
import type { Result } from '../result.ts';
import type { Principal } from '../access/principal.ts';
import { failure, messageOf, type Failure } from '../failures.ts';
import type { CallFilter, Log, Page, Store } from '../ports.ts';
import { andThen, type MaybePromise } from '../maybe-promise.ts';
import { notWaiting, type Approvals, type OperatorDecision } from './approvals.ts';
import { isOpen, type Call } from '../call/call.ts';
import type { Lifecycle } from '../call/lifecycle.ts';
import type { LiveCall } from '../call/live-call.ts';
import type { Runs } from '../call/runs.ts';
import { maySeeCall, narrowedTo, onlyAgent } from '../call/visibility.ts';
import type { Waiters } from '../call/waiters.ts';

export interface CallsParts {
  readonly store: Store;
  readonly log: Log;
  readonly lifecycle: Lifecycle;
  readonly waiters: Waiters;
  readonly approvals: Approvals;
  readonly runs: Pick<Runs, 'find'>;
}

/** What ends the following of a call before the call itself has ended. */
export interface Following {
  /** When it fires the call is cancelled, and followed to that end. */
  readonly cancelOn?: AbortSignal | undefined;
  /** When it fires nobody follows any more, and the call goes on. */
  readonly until?: AbortSignal | undefined;
  /** The call as `submit` returned it: it is followed to its end though the store may drop it meanwhile. */
  readonly live?: LiveCall | null | undefined;
}

/** The recorded calls, as far as each principal may see them. What it may not see does not exist for it. */
export class Calls {
  readonly #parts: CallsParts;

  constructor(parts: CallsParts) {
    this.#parts = parts;
  }

  find(principal: Principal, id: string): MaybePromise<Call | undefined> {
    const found = this.#parts.lifecycle.find(id)?.call ?? this.#parts.store.findCall(id);
    return andThen(found, (call) => (call !== undefined && maySeeCall(principal, call) ? call : undefined));
  }

  /**
   * The call once it has ended, or as it is after `ms`, when `signal` fires or when the server closes. `live`: the call as
   * `submit` returned it to this principal.
   */
  wait(
    principal: Principal,
    id: string,
    ms: number,
    signal?: AbortSignal,
    live?: LiveCall | null,
  ): MaybePromise<Call | undefined> {
    return andThen(live?.call ?? this.find(principal, id), (call) => {
      if (call === undefined || !isOpen(call) || ms <= 0) return call;
      if (this.#parts.lifecycle.find(id) === undefined) return call;
      return this.#parts.waiters.wait(id, ms, signal).then((ended) => ended ?? this.find(principal, id));
    });
  }

  /** The call once it has ended; still open only if `until` fired or the server closes. */
  follow(
    principal: Principal,
    id: string,
    { cancelOn, until, live }: Following = {},
  ): MaybePromise<Call | undefined> {
    const waiting = this.wait(principal, id, Infinity, until, live);
    if (cancelOn === undefined || !(waiting instanceof Promise)) return waiting;
    const cancel = (): void => {
      // Lost to the call's own end: then there is nothing to cancel.
      this.cancel(principal, id).catch((error: unknown) =>
        this.#parts.log.error('call.cancel_failed', { tool_call_id: id, error: messageOf(error) }),
      );
    };
    cancelOn.addEventListener('abort', cancel, { once: true });
    if (cancelOn.aborted) cancel();
    return waiting.finally(() => cancelOn.removeEventListener('abort', cancel));
  }

  /** Of its tenant, and only its own where it may see no other: whatever `wanted` says, it gets no more. */
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
    const call = await this.find(principal, id);
    if (call === undefined) return { ok: false, failure: noSuchCall(id) };
    const live = this.#parts.lifecycle.find(id);
    if (live !== undefined && (await this.#parts.lifecycle.cancel(live, principal.id)))
      return { ok: true, value: live.call };
    const standing = live?.call ?? call;
    const over = failure('conflict', reason('call_over', { state: standing.state.name }));
    return { ok: false, failure: over, call: standing };
  }

  async decide(principal: Principal, id: string, decision: OperatorDecision): Promise<Result<Call>> {
    const call = await this.find(principal, id);
    if (call === undefined) return { ok: false, failure: noSuchCall(id) };
    const live = this.#parts.lifecycle.find(id);
    const refused =
      live === undefined ? notWaiting(call) : await this.#parts.approvals.decide(live, principal, decision);
    const standing = live?.call ?? call;
    return refused === null ? { ok: true, value: standing } : { ok: false, failure: refused, call: standing };
  }

  /** The digest that a call which waits for approval has with other arguments. Nothing is recorded. */
  async previewDecision(principal: Principal, id: string, args: unknown): Promise<Result<string>> {
    const call = await this.find(principal, id);
    if (call === undefined) return { ok: false, failure: noSuchCall(id) };
    const live = this.#parts.lifecycle.find(id);
    const digest = live === undefined ? notWaiting(call) : await this.#parts.approvals.preview(live, args);
    return typeof digest === 'string'
      ? { ok: true, value: digest }
      : { ok: false, failure: digest, call: live?.call ?? call };
  }
}

/** The words an unknown id gets; one of another's calls gets the same. */
export function noSuchCall(id: string): Failure {
  return failure('call_not_found', reason('call_unknown', { id }));
}
