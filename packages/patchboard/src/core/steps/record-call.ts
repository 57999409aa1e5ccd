import { reason } from '@patchboard/wire';
import type { Principal } from '../access/principal.ts';
import type { Call, CallState } from '../call/call.ts';
import type { CallRequest, Submitted } from '../call/call-request.ts';
import { endState, keptFailure } from '../call/end-state.ts';
import type { Lifecycle } from '../call/lifecycle.ts';
import { isPinned, REMOTE_CALLER, type LiveCall } from '../call/live-call.ts';
import type { BadOutcome } from '../call/outcome.ts';
import { denied, failure, type Failure } from '../failures.ts';
import { canonicalJson } from '@patchboard/wire/json';
import type { Limits } from '../limits.ts';
import { ownRunId } from '../call/runs.ts';
import type { Peers } from '../peers.ts';
import type { Clock, Digest, Ids, NewCall, Run, Store } from '../ports.ts';
import { EmptyReservation, type Reservation } from '../providers/provider.ts';
import type { Providers } from '../providers/providers.ts';
import { settleSupplied } from '../settlement/settlement.ts';
import type { RegisteredTool } from '../tools/registered-tool.ts';
import { denialFailure, type Admission } from './admission.ts';
import { endedCall, newCall } from './new-call.ts';
import type { ResponseCache } from './response-cache.ts';

export interface RecorderParts {
  readonly store: Store;
  readonly peers: Peers;
  readonly lifecycle: Lifecycle;
  readonly providers: Providers;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly digest: Digest;
  readonly limits: Limits;
  readonly responses: ResponseCache;
}

/** An admitted request, ready to be recorded. */
export interface Admitted {
  readonly id: string;
  readonly request: CallRequest;
  readonly principal: Principal;
  readonly tool: RegisteredTool;
  readonly admission: Admission;
  /** Ends its count among the requests that are being recorded (`Intake`). */
  readonly leave: () => void;
}

/** Records new calls. A call that could reserve a slot or device is recorded as EXECUTING in its first commit. */
export class Recorder {
  readonly #parts: RecorderParts;

  constructor(parts: RecorderParts) {
    this.#parts = parts;
  }

  /** Records the call, and starts it if it may run. Returns a failure if nothing was recorded. */
  async record(admitted: Admitted, runId: string = admitted.request.runId): Promise<Submitted | Failure> {
    const { id, principal, admission, leave, request: given } = admitted;
    const request = runId === given.runId ? given : { ...given, runId };
    const { peers, lifecycle, responses, clock } = this.#parts;
    const caller = request.caller ?? REMOTE_CALLER;
    const now = clock.now();
    const tool = withTimeout(admitted.tool, request.timeoutMs);
    const reservation = this.#reserve(tool, request, principal, admission, now);
    const { states } = reservation;
    const { call, entries } = newCall(this.#parts, {
      id,
      request,
      principal,
      tool,
      admission,
      states,
      isPinned: !peers.isSingle && isPinned(caller),
      now,
    });
    let recorded;
    try {
      const idempotency = this.#idempotency(given, principal, tool, now);
      const record = { call, run: runOf(call, now), idempotency, entries };
      const recording = lifecycle.record(record, caller, admitted.tool);
      recorded = recording instanceof Promise ? await recording : recording;
    } catch (error) {
      reservation.release();
      throw error;
    }
    leave();
    const { inserted, live } = recorded;
    if (inserted.kind === 'inserted') {
      // Fenced, or moved by another node, since the commit: what is reserved would never be released.
      if (live === null || live.ownership === 'lost') reservation.release();
      else {
        responses.expect(call.id, admission.cacheKey);
        reservation.start(live);
      }
      return submitted(call, live, false, admission.cachedAgeMs);
    }
    reservation.release();
    if (inserted.kind === 'run_refused') return await this.#runRefused(admitted, runId, inserted.run);
    if (inserted.bodyHash !== this.#bodyHash(given)) return failure('idempotency_mismatch');
    return await this.#duplicate(inserted.callId);
  }

  /** Records a call directly in an end state. Returns null if its run was cancelled. */
  async recordEnded(
    request: CallRequest,
    principal: Principal,
    tool: RegisteredTool | undefined,
    outcome: BadOutcome,
  ): Promise<Call | null> {
    const { lifecycle, clock, ids } = this.#parts;
    const facts = { id: request.callId ?? ids.next('tc_'), request, principal, tool, now: clock.now() };
    const { call, entries } = endedCall(this.#parts, facts, outcome);
    const record = { call, run: runOf(call, facts.now), idempotency: null, entries };
    const { inserted } = await lifecycle.record(record, REMOTE_CALLER, tool);
    return inserted.kind === 'inserted' ? call : null;
  }

  /** Fails if the agent's run was cancelled. If the id is another agent's run, records under the agent's own run instead. */
  async #runRefused(admitted: Admitted, runId: string, run: Run): Promise<Submitted | Failure> {
    const { request, principal } = admitted;
    if (run.agentId === principal.agentId && run.cancelledAt !== null)
      return failure('conflict', reason('run_was_cancelled', { id: runId }));
    if (runId === request.runId)
      return await this.record(admitted, ownRunId(this.#parts.digest, runId, principal.agentId));
    const why = reason('runs_of_other_agent', { id: request.runId, own: runId });
    return failure('permission_denied', denied(why));
  }

  async #duplicate(callId: string): Promise<Submitted | Failure> {
    const { peers, lifecycle } = this.#parts;
    // Another node may have moved a call that is live here.
    const live = peers.isSingle ? (lifecycle.find(callId) ?? null) : null;
    const call = live?.call ?? (await this.#parts.store.findCall(callId));
    return call === undefined ? failure('call_not_found') : submitted(call, live, true);
  }

  #reserve(
    tool: RegisteredTool,
    request: CallRequest,
    principal: Principal,
    { decision, suppliedResult, toolResult }: Admission,
    now: number,
  ): Reservation {
    const { limits, providers } = this.#parts;
    if (suppliedResult === null && decision.effect === 'allow') {
      const { tenant } = principal;
      const { runId, countsInRun = true, target = null } = request;
      const wanted = { tenant, toolName: tool.name, runId, countsInRun, target };
      return providers.of(tool).reserve(tool, wanted, now);
    }
    const pending: CallState = { name: 'PENDING', deadlineAt: now + limits.queueWaitMs };
    if (suppliedResult !== null)
      return new EmptyReservation([pending, settleSupplied(tool, suppliedResult.result, limits)]);
    if (decision.effect === 'ask')
      return new EmptyReservation([
        pending,
        { name: 'APPROVAL_REQUIRED', deadlineAt: now + limits.approvalExpiryMs },
      ]);
    const denied = denialFailure(decision, toolResult === undefined ? {} : { toolResult });
    const kept = keptFailure(denied, limits.resultBytes);
    return new EmptyReservation([pending, endState({ kind: 'denied', failure: kept }, null)]);
  }

  #idempotency(
    request: CallRequest,
    principal: Principal,
    tool: RegisteredTool,
    now: number,
  ): NewCall['idempotency'] {
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

function withTimeout(tool: RegisteredTool, timeoutMs = Infinity): RegisteredTool {
  return timeoutMs < tool.timeoutMs ? { ...tool, timeoutMs } : tool;
}

function submitted(call: Call, live: LiveCall | null, duplicate: boolean, cachedAgeMs?: number): Submitted {
  if (call.state.name === 'DENIED') return { kind: 'denied', call, failure: call.state.error };
  return { kind: 'accepted', call, live, duplicate, ...(cachedAgeMs === undefined ? {} : { cachedAgeMs }) };
}
