import { reason } from '@patchboard/wire';
import type { Guard } from '../access/guard.ts';
import type { Principal } from '../access/principal.ts';
import type { RateLimits } from '../access/rate-limits.ts';
import type { CallRequest, Submitted } from '../call/call-request.ts';
import type { Lifecycle } from '../call/lifecycle.ts';
import { REMOTE_CALLER } from '../call/live-call.ts';
import { Counters } from '../counters.ts';
import { failure, type Failure } from '../failures.ts';
import type { Hooks } from '../hooks/hooks.ts';
import type { Limits } from '../limits.ts';
import type { Clock, Ids } from '../ports.ts';
import type { Providers } from '../providers/providers.ts';
import type { MaybePromise } from '../maybe-promise.ts';
import type { SharedChanges } from '../shared-changes.ts';
import type { RegisteredTool } from '../tools/registered-tool.ts';
import type { ToolIndex } from '../tools/tool-index.ts';
import { admit, deny, type Admission } from './admission.ts';
import type { Recorder } from './record-call.ts';
import type { Refusals } from './refusals.ts';
import type { ResponseCache } from './response-cache.ts';
import { resolveTool, type Resolution } from './resolution.ts';

export interface IntakeParts {
  readonly toolIndex: ToolIndex;
  readonly lifecycle: Lifecycle;
  readonly providers: Providers;
  readonly recorder: Recorder;
  readonly refusals: Refusals;
  readonly guard: Guard;
  readonly hooks: readonly Hooks[];
  readonly clock: Clock;
  readonly ids: Ids;
  readonly limits: Limits;
  readonly rates: RateLimits;
  readonly responses: ResponseCache;
  readonly changes: SharedChanges;
  readonly isDraining: () => boolean;
  /** The failure of all requests once another process has taken over the store; null until then. */
  readonly fenced: () => Failure | null;
}

/**
 * The first step of a call: checks the caller's rate, finds the tool, validates, checks the other limits and admits;
 * then the call is recorded.
 */
export class Intake {
  readonly #parts: IntakeParts;
  /** Requests per tenant that are being recorded. They count as open calls, so that many at once cannot exceed the limit. */
  readonly #recording: Counters = new Counters();
  #pending = 0;
  #onIdle: (() => void) | null = null;

  constructor(parts: IntakeParts) {
    this.#parts = parts;
  }

  async submit(given: CallRequest, principal: Principal): Promise<Submitted> {
    const tooFast = this.#parts.rates.request(principal);
    if (tooFast !== null) return await this.#refuse(given, principal, tooFast);
    const resolving = this.resolve(given, principal);
    const resolved = resolving instanceof Promise ? await resolving : resolving;
    const { request, tool, problem } = resolved;
    if (tool === undefined) return await this.#refuse(request, principal, problem);
    if (problem !== null) return await this.#refuse(request, principal, problem);
    // A denied call does not use up the tool's limits, and does not reveal them.
    const busy = resolved.isDenied ? this.#draining() : this.#busy(principal, tool);
    if (busy !== null) return await this.#refuse(request, principal, busy);
    // Called as soon as the call itself counts as open, or when it is refused.
    const leave = this.#recording.enter(principal.tenant);
    this.#pending += 1;
    try {
      const id = request.callId ?? this.#parts.ids.next('tc_');
      const admitting = resolved.isDenied
        ? this.deny(id, tool, request, principal)
        : this.admit(id, tool, request, principal);
      const admission = admitting instanceof Promise ? await admitting : admitting;
      if ('code' in admission) return await this.#refuse(request, principal, admission);
      const cacheScope = { principal, origin: request.origin ?? null };
      const withCache = this.#parts.responses.lookUp(tool, cacheScope, admission);
      const admitted = { id, request, principal, tool, admission: withCache, leave };
      const recorded = await this.#parts.recorder.record(admitted);
      return 'kind' in recorded ? recorded : await this.#refuse(request, principal, recorded);
    } finally {
      leave();
      this.#pending -= 1;
      if (this.#pending === 0) this.#onIdle?.();
    }
  }

  /** Resolves when no request is being recorded. Called once, after intake stopped. */
  async idle(): Promise<void> {
    if (this.#pending === 0) return;
    await new Promise<void>((resolve) => {
      this.#onIdle = resolve;
    });
  }

  /** Also finds a tool that another node has registered a moment ago. */
  resolve(given: CallRequest, principal: Principal): MaybePromise<Resolution> {
    const resolved = resolveTool(this.#parts, given, principal);
    const { changes } = this.#parts;
    if (resolved instanceof Promise || resolved.tool !== undefined || !changes.isShared) return resolved;
    return changes
      .afterMiss()
      .then((hasChanged) => (hasChanged ? resolveTool(this.#parts, given, principal) : resolved));
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
  ): MaybePromise<Admission> {
    return deny(this.#parts, { id, principal, tool, runId, args, caller: caller ?? REMOTE_CALLER });
  }

  #draining(): Failure | null {
    if (!this.#parts.isDraining()) return null;
    return this.#parts.fenced() ?? failure('overloaded', reason('server_shutting_down'));
  }

  #busy(principal: Principal, tool: RegisteredTool): Failure | null {
    const { limits, lifecycle, rates } = this.#parts;
    const draining = this.#draining();
    if (draining !== null) return draining;
    const tooFast = rates.call(principal, tool.name);
    if (tooFast !== null) return tooFast;
    const { tenant } = principal;
    const own = lifecycle.open.of(tenant);
    if (own.calls + this.#recording.of(tenant) >= limits.openCallsPerTenant)
      return failure('queue_full', reason('open_calls_of_tenant', { count: limits.openCallsPerTenant }));
    if (own.characters >= limits.openBytesPerTenant) {
      return failure('queue_full', reason('open_bytes_of_tenant', { bytes: limits.openBytesPerTenant }));
    }
    if (lifecycle.open.all.characters < limits.openBytesServer) return null;
    return failure('queue_full', reason('open_bytes_of_server', { bytes: limits.openBytesServer }));
  }

  async #refuse(request: CallRequest, principal: Principal, refused: Failure): Promise<Submitted> {
    // A refusal cannot be recorded any more.
    const fenced = this.#parts.fenced();
    if (fenced !== null) return { kind: 'refused', failure: fenced };
    const call = await this.#parts.refusals.record(request, principal, refused);
    return call === null ? { kind: 'refused', failure: refused } : { kind: 'denied', call, failure: refused };
  }
}
