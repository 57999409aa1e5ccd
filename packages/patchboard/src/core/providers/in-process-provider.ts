import { type FailureCode, type Reason, reason } from '@patchboard/wire';
import { isAsApproved } from '../call/as-approved.ts';
import { attemptsOf, isOpen, type CallState } from '../call/call.ts';
import { endState } from '../call/end-state.ts';
import type { Lifecycle } from '../call/lifecycle.ts';
import { continuedMs, InputRequired, type InputRound } from '../call/input.ts';
import type { InputRequests, RecordedInput } from '../call/input-requests.ts';
import { isOurs, nothing, type LiveCall } from '../call/live-call.ts';
import { failed, type Outcome } from '../call/outcome.ts';
import { failure, type Failure } from '../failures.ts';
import type { Limits } from '../limits.ts';
import { pairKey } from '../pair-key.ts';
import type { Peers } from '../peers.ts';
import type { Clock } from '../ports.ts';
import { failureOfThrown } from '../settlement/error-to-failure.ts';
import { settle, type SettlementParts } from '../settlement/settlement.ts';
import { andThen, type MaybePromise } from '../maybe-promise.ts';
import type { Tasks } from '../tasks.ts';
import type { RegisteredTool } from '../tools/registered-tool.ts';
import type { ToolIndex } from '../tools/tool-index.ts';
import type { ServerTool } from '../tools/server-tool.ts';
import { HeldInputs } from './held-inputs.ts';
import { LEASE_RETRY_MS, runLocally, type LocalRunnerParts } from './local-runner.ts';
import {
  mayRepeat,
  EmptyReservation,
  type Provider,
  type Reservation,
  type ReservationRequest,
} from './provider.ts';
import { SlotOffers } from './slot-offers.ts';
import { Slots, type SlotKey } from './slots.ts';
import { WorkspaceHomes } from './workspace-homes.ts';

export interface InProcessProviderParts extends Omit<LocalRunnerParts, 'heldInputs'>, SettlementParts {
  readonly inputRequests: InputRequests;
  readonly peers: Peers;
  readonly lifecycle: Lifecycle;
  readonly toolIndex: ToolIndex;
  readonly limits: Limits;
  readonly clock: Clock;
  readonly tasks: Tasks;
}

const SERVER_SLOT = 'server';
const TENANT_SLOT = 'tenant:';
/** Bounds the attempts of a call that crashes the server each time. */
const MAX_ATTEMPTS_OVER_RESTARTS = 5;

function tenantSlot(tenant: string): string {
  return `${TENANT_SLOT}${tenant}`;
}

/** Runs tools in this process, limited by the slots of run, tenant, server and tool. */
export class InProcessProvider implements Provider {
  readonly #parts: InProcessProviderParts;
  readonly #heldInputs: HeldInputs;
  readonly #runnerParts: LocalRunnerParts;
  readonly #slots: Slots = new Slots();
  readonly #offers: SlotOffers;
  readonly #homes: WorkspaceHomes;
  /** Calls whose EXECUTING state is being committed. */
  readonly #beginning: Set<LiveCall> = new Set();
  #isStopped = false;

  constructor(parts: InProcessProviderParts) {
    this.#parts = parts;
    this.#homes = new WorkspaceHomes(parts);
    this.#offers = new SlotOffers({
      ...parts,
      wheel: parts.lifecycle.wheel,
      isShared: (name) => name === SERVER_SLOT || name.startsWith(TENANT_SLOT),
    });
    parts.peers.onOffered(
      (tenant) => this.#room(tenant),
      (tenant, toolName, toolVersion) => this.#hasTool(tenant, toolName, toolVersion),
    );
    this.#heldInputs = new HeldInputs(parts.inputRequests);
    this.#runnerParts = { ...parts, heldInputs: this.#heldInputs };
  }

  /** With a free slot the call is recorded as EXECUTING in its first commit. */
  reserve(tool: RegisteredTool, request: ReservationRequest, now: number): Reservation {
    const pending: CallState = { name: 'PENDING', deadlineAt: now + this.#parts.limits.queueWaitMs };
    if (tool.sandbox !== null && !this.#homes.isKnown(request)) return new EmptyReservation([pending], this);
    const keys = this.#slotKeys(serverToolOf(tool), request);
    if (this.#isStopped || !this.#parts.peers.hasLease() || !this.#slots.tryTake(keys))
      return new EmptyReservation([pending], this);
    const deadlineAt = now + tool.timeoutMs;
    const executing: CallState = { name: 'EXECUTING', deadlineAt, attempt: 1, cause: null };
    return new SlotReservation(this, keys, [pending, executing]);
  }

  releaseSlots(keys: readonly SlotKey[]): void {
    this.#slots.release(keys);
  }

  /** Starts a call that was recorded as EXECUTING and holds the slots `keys`. */
  startReserved(live: LiveCall, keys: readonly SlotKey[]): void {
    live.release = () => this.#slots.release(keys);
    const { tool } = live;
    // A tool that was removed during the commit does not run.
    if (tool === undefined || !this.#parts.toolIndex.offers(live.call.tenant, tool)) {
      this.#fail(live, 'tool_not_found', reason('tool_unknown', { tool: live.call.toolName }), 'not_started');
      return;
    }
    this.#parts.tasks.start('execute', () => this.#execute(live, tool));
  }

  start(live: LiveCall): void {
    const { call } = live;
    const { toolIndex } = this.#parts;
    const tool = live.tool ?? toolIndex.find(call.tenant, call.toolName);
    // A new tool of the same name is not the one that the call was submitted for.
    if (tool === undefined || !toolIndex.offers(call.tenant, tool) || tool.runsOn.kind !== 'server') {
      this.#fail(live, 'tool_not_found', reason('tool_unknown', { tool: call.toolName }));
      return;
    }
    // A call that was recorded, and maybe approved, for one sandbox must not run in another after a restart.
    if (call.sandbox !== tool.sandbox) {
      const why = reason('sandbox_differs', { wanted: String(call.sandbox), here: String(tool.sandbox) });
      this.#fail(live, 'sandbox_unavailable', why);
    } else if (!isAsApproved(call, () => tool))
      this.#fail(live, 'approval_denied', reason('approval_tool_changed'));
    // The arguments were validated against the recorded version of the contract.
    else if (tool.version !== call.toolVersion)
      this.#fail(live, 'tool_not_found', reason('tool_changed', { tool: call.toolName }));
    else if (this.#homes.mustClaim(call))
      this.#homes.begin(live, {
        here: () => this.#queue(live, tool),
        refused: (why) => this.#fail(live, 'sandbox_unavailable', why),
      });
    else this.#queue(live, tool);
  }

  /** A running tool gets the stop signal of its call; `live.release` returns the slot. */
  cancel(): void {
    // No other process works on the call, so there is none to notify.
  }

  recover({ call }: LiveCall, tool: RegisteredTool | undefined): boolean {
    const { state } = call;
    const wasRunning = state.name === 'EXECUTING' || (state.name === 'INPUT_REQUIRED' && state.held);
    return !wasRunning || mayRepeat(tool, call, MAX_ATTEMPTS_OVER_RESTARTS);
  }

  awaitsInput(live: LiveCall): boolean {
    return this.#heldInputs.awaits(live);
  }

  inputGiven(live: LiveCall, round: InputRound): void {
    this.#heldInputs.given(live, round);
  }

  isOnline(tool: RegisteredTool): boolean {
    return serverToolOf(tool).isOnline?.() ?? true;
  }

  waitMs(): number {
    return this.#parts.limits.queueWaitMs;
  }

  targetProblem({ name }: RegisteredTool): Failure {
    return failure('body_invalid', reason('target_of_server_tool', { tool: name }));
  }

  /** Calls that wait for a slot keep waiting, over a restart too, unless another node takes them. */
  stop(): void {
    this.#isStopped = true;
    this.#offers.offerAll();
  }

  /** Whether the call runs as soon as its EXECUTING state is committed. */
  isBeginning(live: LiveCall): boolean {
    return this.#beginning.has(live);
  }

  /** Returns the number of calls that wait for a slot and that hold one; `tenant` null: of all tenants. */
  load(tenant: string | null): { waiting: number; executing: number } {
    const name = tenant === null ? SERVER_SLOT : tenantSlot(tenant);
    return { waiting: this.#slots.waiting(name), executing: this.#slots.held(name) };
  }

  /** How many more calls of the tenant, or with null of all tenants, can run now. */
  #room(tenant: string | null): number {
    const { peers, limits } = this.#parts;
    if (this.#isStopped || !peers.hasLease()) return 0;
    const { waiting, executing } = this.load(tenant);
    const limit = tenant === null ? limits.concurrencyServer : limits.concurrencyPerTenant;
    return Math.max(0, limit - executing - waiting);
  }

  #hasTool(tenant: string, toolName: string, toolVersion: string): boolean {
    const tool = this.#parts.toolIndex.find(tenant, toolName);
    return tool?.runsOn.kind === 'server' && tool.version === toolVersion;
  }

  /** Ends a call that this process cannot run. It may have started before a restart. */
  #fail(
    live: LiveCall,
    code: FailureCode,
    why: Reason,
    outcome = this.#parts.lifecycle.outcomeKnowledge(live),
  ): void {
    const ended = failed(failure(code, why, { outcome }));
    this.#parts.tasks.start('dispatch', async () => {
      await this.#parts.lifecycle.advanceWithRetry(live, [endState(ended, null)]);
    });
  }

  #queue(live: LiveCall, tool: RegisteredTool): void {
    if (this.#isStopped || !isOurs(live)) return;
    if (!this.#parts.peers.hasLease()) {
      live.release = this.#parts.lifecycle.wheel.after(LEASE_RETRY_MS, () => this.#queue(live, tool));
      return;
    }
    const keys = this.#slotKeys(serverToolOf(tool), live.call);
    const run = (): void => {
      if (this.#isStopped) return;
      if (!this.#parts.peers.hasLease()) {
        this.#slots.release(keys);
        this.#queue(live, tool);
        return;
      }
      live.release = () => this.#slots.release(keys);
      this.#parts.tasks.start('execute', async () => {
        // After the close the call stays as it is stored: the next start seals it.
        if ((await this.#begin(live, tool)) && !this.#parts.lifecycle.isClosed)
          await this.#execute(live, tool);
      });
    };
    if (this.#slots.tryTake(keys)) return run();
    const wait = this.#slots.wait(keys, () => {
      this.#offers.remove(live);
      live.release = () => this.#slots.release(keys);
      if (this.#isUnchanged(live, tool)) run();
    });
    live.release = this.#offers.add(live, wait);
  }

  /**
   * Ends a call whose tool an upstream removed or changed while the call waited for a slot. A tool of this process runs as it
   * was when the call was submitted.
   */
  #isUnchanged(live: LiveCall, tool: RegisteredTool): boolean {
    if (tool.source === 'server') return true;
    const { call } = live;
    const registered = this.#parts.toolIndex.find(call.tenant, call.toolName);
    if (registered?.version === tool.version) return true;
    if (registered === undefined)
      this.#fail(live, 'tool_not_found', reason('tool_unknown', { tool: call.toolName }));
    else if (call.approval !== null) this.#fail(live, 'approval_denied', reason('approval_tool_changed'));
    else this.#fail(live, 'tool_not_found', reason('tool_changed', { tool: call.toolName }));
    return false;
  }

  /** Commits EXECUTING, which must be durable before the tool runs. Returns false if the call ended while it waited. */
  async #begin(live: LiveCall, tool: RegisteredTool): Promise<boolean> {
    this.#beginning.add(live);
    try {
      return await this.#commitBeginning(live, tool);
    } finally {
      this.#beginning.delete(live);
    }
  }

  async #commitBeginning(live: LiveCall, tool: RegisteredTool): Promise<boolean> {
    const { lifecycle, clock } = this.#parts;
    const continued = continuedMs(live.call);
    const attempt = attemptsOf(live.call) + (continued === null ? 1 : 0);
    const deadlineAt = clock.now() + (continued ?? Math.min(tool.timeoutMs, live.call.timeoutMs));
    const cause = attempt === 1 || continued !== null ? null : 'interrupted';
    const state = { name: 'EXECUTING', deadlineAt, attempt, cause } as const;
    const { version } = live.call;
    if (!(await lifecycle.advanceWithRetry(live, [state], this.#homes.noteFor(live.call)))) {
      // It is still open if a response to an input request of its last attempt was recorded meanwhile.
      return isOurs(live) && live.call.version !== version && (await this.#commitBeginning(live, tool));
    }
    this.#homes.noted(live.call);
    return true;
  }

  #execute(live: LiveCall, tool: RegisteredTool): MaybePromise<unknown> {
    return andThen(runLocally(this.#runnerParts, serverToolOf(tool), live), (outcome) => {
      if (outcome === null) return;
      if (outcome instanceof InputRequired) return this.#returnedInput(live, tool, outcome);
      return this.#settle(live, tool, outcome);
    });
  }

  #settle(live: LiveCall, tool: RegisteredTool, outcome: Outcome): MaybePromise<unknown> {
    const settled = settle(this.#parts, live, tool, outcome, null);
    return andThen(settled, (state) => this.#parts.lifecycle.endWithRetry(live, state));
  }

  /** The attempt is over. With the responses the call waits for a place again. */
  async #returnedInput(live: LiveCall, tool: RegisteredTool, given: InputRequired): Promise<void> {
    // A response may come before the next line of this function runs: the place it takes then must stay its own.
    const { release } = live;
    live.release = nothing;
    let recorded: RecordedInput | null = null;
    try {
      const { requests, carry } = given;
      recorded = await this.#parts.inputRequests.record(live, { requests, held: false, carry });
    } catch (error) {
      await this.#settle(live, tool, failed(failureOfThrown(error, tool.annotations.idempotent === true)));
    } finally {
      release();
    }
    if (recorded === 'given' && isOpen(live.call)) this.start(live);
  }

  #slotKeys(
    tool: ServerTool,
    { tenant, runId, countsInRun }: Pick<ReservationRequest, 'tenant' | 'runId' | 'countsInRun'>,
  ): SlotKey[] {
    const { limits } = this.#parts;
    const ofTenant = { name: tenantSlot(tenant), limit: limits.concurrencyPerTenant };
    const ofServer = { name: SERVER_SLOT, limit: limits.concurrencyServer };
    const keys = countsInRun
      ? [{ name: `run:${pairKey(tenant, runId)}`, limit: limits.concurrencyPerRun }, ofTenant, ofServer]
      : [ofTenant, ofServer];
    if (tool.concurrency !== null) keys.push({ name: `tool:${tool.name}`, limit: tool.concurrency });
    if (tool.slot !== undefined) keys.push({ name: `shared:${tool.slot.name}`, limit: tool.slot.limit });
    return keys;
  }
}

class SlotReservation implements Reservation {
  readonly states: readonly CallState[];
  readonly #provider: InProcessProvider;
  readonly #keys: readonly SlotKey[];

  constructor(provider: InProcessProvider, keys: readonly SlotKey[], states: readonly CallState[]) {
    this.#provider = provider;
    this.#keys = keys;
    this.states = states;
  }

  start(live: LiveCall): void {
    this.#provider.startReserved(live, this.#keys);
  }

  release(): void {
    this.#provider.releaseSlots(this.#keys);
  }
}

function serverToolOf({ runsOn, name }: RegisteredTool): ServerTool {
  if (runsOn.kind !== 'server') throw new Error(`${name} does not run in this process`);
  return runsOn.tool;
}
