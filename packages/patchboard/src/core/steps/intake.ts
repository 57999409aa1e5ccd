import { admit, denialFailure, deny, type Admission } from './admission.ts';
import type { Call, CallState } from '../call/call.ts';
import type { CallOrigin } from '../call/call-origin.ts';
import { canonicalJson } from '../json/canonical-json.ts';
import { NOTHING_HELD, type Dispatcher, type Start } from './dispatcher.ts';
import { endState, keptFailure } from '../call/end-state.ts';
import { failure, type Failure } from '../failures.ts';
import type { Guard } from '../access/guard.ts';
import type { Hooks } from './hooks.ts';
import { refusedRow, type RefusedCall } from '../ledger/ledger.ts';
import { endedCall, newCall } from '../call/new-call.ts';
import type { Lifecycle } from '../call/lifecycle.ts';
import { REMOTE_CALLER, type InProcessCaller, type LiveCall } from '../call/live-call.ts';
import type { Limits } from '../limits.ts';
import { failed, type BadOutcome } from '../call/outcome.ts';
import type { Pools } from '../devices/pools.ts';
import type { Clock, Digest, Ids, Run, Store } from '../ports.ts';
import type { Principal } from '../access/principal.ts';
import type { RateLimits } from '../access/rate-limits.ts';
import type { RegisteredTool } from '../tools/registered-tool.ts';
import type { Registry } from '../tools/registry.ts';
import type { ResponseCache } from './response-cache.ts';
import { resolveTool, type Resolution } from './resolution.ts';
import { settleAtHand } from './settlement.ts';
import type { Soon } from '../soon.ts';
import { ownRunId } from '../call/runs.ts';
import { Counters } from '../counters.ts';

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

export interface IntakeParts {
  readonly store: Store;
  readonly registry: Registry;
  readonly lifecycle: Lifecycle;
  readonly dispatcher: Dispatcher;
  readonly guard: Guard;
  readonly hooks: readonly Hooks[];
  readonly clock: Clock;
  readonly ids: Ids;
  readonly digest: Digest;
  readonly limits: Limits;
  readonly rates: RateLimits;
  readonly responses: ResponseCache;
  readonly pools: Pools;
  readonly isDraining: () => boolean;
  /** Told of each refusal that has its ledger row. */
  readonly refused: (refused: RefusedCall) => void;
}

/** A call that may be recorded. */
interface Admitted {
  readonly id: string;
  readonly request: CallRequest;
  readonly principal: Principal;
  readonly tool: RegisteredTool;
  readonly admission: Admission;
  /** Gives back its place among those that are being recorded. */
  readonly leave: () => void;
}

/** The first half of a call's way: the caller's rate, resolve, validate, the other limits, guard, record. */
export class Intake {
  readonly #parts: IntakeParts;
  /** Those that are being recorded count as open: many at once must not all find the last free place. */
  readonly #entering: Counters = new Counters();
  #underWay = 0;
  #whenQuiet: (() => void) | null = null;

  constructor(parts: IntakeParts) {
    this.#parts = parts;
  }

  async submit(given: CallRequest, principal: Principal): Promise<Submitted> {
    const tooFast = this.#parts.rates.request(principal);
    if (tooFast !== null) return await this.#refuse(given, principal, tooFast);
    const resolved = this.resolve(given, principal);
    const { request, tool, problem } = resolved;
    if (tool === undefined) return await this.#refuse(request, principal, problem);
    if (problem !== null) return await this.#refuse(request, principal, problem);
    // The limits of a tool are not shown to those who may not call it, and their calls take nothing from them.
    const busy = resolved.isDenied ? this.#draining() : this.#busy(principal, tool);
    if (busy !== null) return await this.#refuse(request, principal, busy);
    // Left as soon as the call counts as open itself, or when nothing comes of it.
    const leave = this.#entering.enter(principal.tenant);
    this.#underWay += 1;
    try {
      const id = request.callId ?? this.#parts.ids.next('tc_');
      const asked = resolved.isDenied
        ? this.deny(id, tool, request, principal)
        : this.admit(id, tool, request, principal);
      const admission = asked instanceof Promise ? await asked : asked;
      if ('code' in admission) return await this.#refuse(request, principal, admission);
      const whose = { principal, origin: request.origin ?? null };
      const answered = this.#parts.responses.answer(tool, whose, admission);
      return await this.#record({ id, request, principal, tool, admission: answered, leave });
    } finally {
      leave();
      this.#underWay -= 1;
      if (this.#underWay === 0) this.#whenQuiet?.();
    }
  }

  /** Resolves when nothing is being recorded. Asked once, when nothing new is taken in. */
  async quiet(): Promise<void> {
    if (this.#underWay === 0) return;
    await new Promise<void>((resolve) => {
      this.#whenQuiet = resolve;
    });
  }

  resolve(given: CallRequest, principal: Principal): Resolution {
    return resolveTool(this.#parts, given, principal);
  }

  admit(
    id: string,
    tool: RegisteredTool,
    { runId, args, caller }: CallRequest,
    principal: Principal,
  ): Admission | Promise<Admission | Failure> {
    return admit(this.#parts, { id, principal, tool, runId, args, caller: caller ?? REMOTE_CALLER });
  }

  /** The admission of a call whose tool the principal may never call. */
  deny(
    id: string,
    tool: RegisteredTool,
    { runId, args, caller }: CallRequest,
    principal: Principal,
  ): Soon<Admission> {
    return deny(this.#parts, { id, principal, tool, runId, args, caller: caller ?? REMOTE_CALLER });
  }

  #draining(): Failure | null {
    return this.#parts.isDraining() ? failure('overloaded', 'the server is shutting down') : null;
  }

  #busy(principal: Principal, tool: RegisteredTool): Failure | null {
    const { limits, lifecycle, rates } = this.#parts;
    const draining = this.#draining();
    if (draining !== null) return draining;
    const tooFast = rates.call(principal, tool.name);
    if (tooFast !== null) return tooFast;
    const { tenant } = principal;
    const own = lifecycle.open.of(tenant);
    if (own.calls + this.#entering.of(tenant) >= limits.openCallsPerTenant)
      return failure('queue_full', `${limits.openCallsPerTenant} calls of this tenant have not ended yet`);
    if (own.characters >= limits.openBytesPerTenant) {
      const message = `the arguments of this tenant's calls that have not ended take ${limits.openBytesPerTenant} bytes`;
      return failure('queue_full', message);
    }
    if (lifecycle.open.all.characters < limits.openBytesServer) return null;
    const message = `the arguments of all calls that have not ended take ${limits.openBytesServer} bytes`;
    return failure('queue_full', message);
  }

  /** A call that never gets anywhere, recorded with its ending; null: its run takes no more calls. */
  async recordEnded(request: CallRequest, principal: Principal, outcome: BadOutcome): Promise<Call | null> {
    const { registry, lifecycle, clock, ids } = this.#parts;
    const facts = {
      id: request.callId ?? ids.next('tc_'),
      request,
      principal,
      tool: registry.find(principal.tenant, request.toolName),
      now: clock.now(),
    };
    const { call, entries } = endedCall(this.#parts, facts, outcome);
    const run = runOf(call, facts.now);
    const { inserted } = await lifecycle.record(
      { call, run, idempotency: null, entries },
      REMOTE_CALLER,
      facts.tool,
    );
    return inserted.kind === 'inserted' ? call : null;
  }

  async #refuse(request: CallRequest, principal: Principal, refused: Failure): Promise<Submitted> {
    // A model must get an answer, and the answer a record; a server that goes down answers nobody any more.
    if (request.caller?.keepsRefused === true && !this.#parts.isDraining()) {
      const call = await this.recordEnded(request, principal, failed(refused));
      if (call !== null) return { kind: 'denied', call, failure: refused };
    }
    const unrecorded = refused.code === 'rate_limited' ? this.#parts.rates.refusal(principal) : 0;
    if (unrecorded === null) return { kind: 'refused', failure: refused };
    const { toolName, traceId = null, origin = null } = request;
    const { tenant, agentId } = principal;
    const { code, message } = refused;
    const argsHash = this.#parts.digest.sha256(JSON.stringify(request.args) ?? 'null');
    const told = { tenant, toolName, agentId, traceId, origin, code, message, argsHash, unrecorded };
    await this.#parts.store.append([refusedRow(told, this.#parts.clock.now())]);
    this.#parts.refused(told);
    return { kind: 'refused', failure: refused };
  }

  async #record(admitted: Admitted, runId: string = admitted.request.runId): Promise<Submitted> {
    const { id, request, principal, admission, leave, ...found } = admitted;
    const { store, lifecycle, dispatcher, clock } = this.#parts;
    const now = clock.now();
    const tool = timed(found.tool, request.timeoutMs);
    const first = this.#firstStates(
      tool,
      { runId, target: request.target ?? null },
      principal,
      admission,
      now,
    );
    const { call, entries } = newCall(this.#parts, {
      id,
      request: runId === request.runId ? request : { ...request, runId },
      principal,
      tool,
      admission,
      states: first.states,
      now,
    });
    const run = runOf(call, now);
    let recorded;
    try {
      const idempotency = this.#idempotency(request, principal, tool, now);
      const record = { call, run, idempotency, entries };
      const recording = lifecycle.record(record, request.caller ?? REMOTE_CALLER, found.tool);
      recorded = recording instanceof Promise ? await recording : recording;
    } catch (error) {
      dispatcher.giveBack(first);
      throw error;
    }
    leave();
    const { inserted, live } = recorded;
    if (inserted.kind !== 'inserted') dispatcher.giveBack(first);
    switch (inserted.kind) {
      case 'inserted':
        if (live !== null) this.#parts.responses.expect(call.id, admission.cacheKey);
        if (live !== null && call.state.name !== 'APPROVAL_REQUIRED') dispatcher.dispatch(live, first);
        return submitted(call, live, false, admission.cachedAgeMs);
      case 'duplicate': {
        if (inserted.bodyHash !== this.#bodyHash(request)) {
          return await this.#refuse(request, principal, failure('idempotency_mismatch'));
        }
        const earlier = lifecycle.find(inserted.callId) ?? null;
        const standing = earlier?.call ?? (await store.findCall(inserted.callId));
        if (standing === undefined) return await this.#refuse(request, principal, failure('call_not_found'));
        return submitted(standing, earlier, true);
      }
      case 'run_refused': {
        const { agentId, cancelledAt } = inserted.run;
        if (agentId === principal.agentId && cancelledAt !== null) {
          return await this.#refuse(request, principal, failure('conflict', `run ${runId} was cancelled`));
        }
        if (runId !== request.runId) {
          const message = `permission denied: runs ${request.runId} and ${runId} belong to another agent`;
          return await this.#refuse(request, principal, failure('permission_denied', message));
        }
        return await this.#record(admitted, ownRunId(this.#parts.digest, runId, principal.agentId));
      }
    }
  }

  #firstStates(
    tool: RegisteredTool,
    wanted: { readonly runId: string; readonly target: string | null },
    principal: Principal,
    { decision, atHand, toolResult }: Admission,
    now: number,
  ): Start {
    const { limits, dispatcher } = this.#parts;
    const pending: CallState = { name: 'PENDING', deadlineAt: now + limits.queueWaitMs };
    if (atHand !== null) {
      return { ...NOTHING_HELD, states: [pending, settleAtHand(tool, atHand.result, limits.resultBytes)] };
    }
    switch (decision.effect) {
      case 'allow':
        return dispatcher.firstStates(
          tool,
          { tenant: principal.tenant, toolName: tool.name, ...wanted },
          now,
        );
      case 'ask':
        return {
          ...NOTHING_HELD,
          states: [pending, { name: 'APPROVAL_REQUIRED', deadlineAt: now + limits.approvalExpiryMs }],
        };
      case 'deny': {
        const denied = denialFailure(decision, toolResult === undefined ? {} : { toolResult });
        const kept = keptFailure(denied, limits.resultBytes);
        return { ...NOTHING_HELD, states: [pending, endState({ kind: 'denied', failure: kept }, null)] };
      }
    }
  }

  #idempotency(
    request: CallRequest,
    principal: Principal,
    tool: RegisteredTool,
    now: number,
  ): { scope: string; bodyHash: string; expiresAt: number } | null {
    const { idempotencyKey = null } = request;
    if (idempotencyKey === null) return null;
    const scope = JSON.stringify([principal.tenant, principal.agentId, tool.name, idempotencyKey]);
    return { scope, bodyHash: this.#bodyHash(request), expiresAt: now + this.#parts.limits.idempotencyMs };
  }

  #bodyHash({ runId, args, target = null }: CallRequest): string {
    return this.#parts.digest.sha256(canonicalJson({ runId, args, target }));
  }
}

function runOf({ runId: id, tenant, agentId }: Call, createdAt: number): Run {
  return { id, tenant, agentId, createdAt, cancelledAt: null };
}

function timed(tool: RegisteredTool, timeoutMs = Infinity): RegisteredTool {
  return timeoutMs < tool.timeoutMs ? { ...tool, timeoutMs } : tool;
}

function submitted(call: Call, live: LiveCall | null, duplicate: boolean, cachedAgeMs?: number): Submitted {
  if (call.state.name === 'DENIED') return { kind: 'denied', call, failure: call.state.error };
  return { kind: 'accepted', call, live, duplicate, ...(cachedAgeMs === undefined ? {} : { cachedAgeMs }) };
}
