import { reason } from '@patchboard/wire';
import { attemptsOf, isOpen, type Call, type CallState } from '../call/call.ts';
import { endState } from '../call/end-state.ts';
import type { Lifecycle } from '../call/lifecycle.ts';
import { carriedState, continuedMs, InputRequired, type InputRound } from '../call/input.ts';
import type { InputRequests, RecordedInput } from '../call/input-requests.ts';
import { isOurs, nothing, type LiveCall } from '../call/live-call.ts';
import { failed, type Outcome } from '../call/outcome.ts';
import { failure, type Failure } from '../failures.ts';
import type { Limits } from '../limits.ts';
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
import { isSharedSlot, SERVER_SLOT, SlotKeys, tenantSlot } from './slot-keys.ts';
import { SlotOffers } from './slot-offers.ts';
import { SlotReservation } from './slot-reservation.ts';
import { Slots, type SlotKey } from './slots.ts';
import { changeProblem, startProblem, unknownTool, type ToolProblem } from './tool-problem.ts';
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

/** Bounds the attempts of a call that crashes the server each time. */
const MAX_ATTEMPTS_OVER_RESTARTS = 5;

/** Runs tools in this process, limited by the slots of run, tenant, server and tool. */
export class InProcessProvider implements Provider {
  readonly #parts: InProcessProviderParts;
  readonly #heldInputs: HeldInputs;
  readonly #runnerParts: LocalRunnerParts;
  readonly #slots: Slots = new Slots();
  readonly #keys: SlotKeys;
  readonly #offers: SlotOffers;
  readonly #homes: WorkspaceHomes;
  /** Calls whose EXECUTING state is being committed. */
  readonly #beginning: Set<LiveCall> = new Set();
  #isStopped = false;

  constructor(parts: InProcessProviderParts) {
    this.#parts = parts;
    this.#keys = new SlotKeys(parts.limits);
    this.#homes = new WorkspaceHomes(parts);
    this.#offers = new SlotOffers({
      ...parts,
      wheel: parts.lifecycle.wheel,
      isShared: isSharedSlot,
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
    const keys = this.#keys.of(serverToolOf(tool), request);
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
      this.#fail(live, unknownTool(live.call), 'not_started');
      return;
    }
    this.#parts.tasks.start('execute', () => this.#execute(live, tool));
  }

  start(live: LiveCall): void {
    const { call } = live;
    const { toolIndex } = this.#parts;
    const tool = live.tool ?? toolIndex.find(call.tenant, call.toolName);
    // A new tool of the same name is not the one that the call was submitted for.
    if (tool === undefined || !toolIndex.offers(call.tenant, tool) || tool.runsOn.kind !== 'server')
      return this.#fail(live, unknownTool(call));
    const problem = startProblem(call, tool);
    if (problem !== null) this.#fail(live, problem);
    else if (this.#homes.mustClaim(call))
      this.#homes.begin(live, {
        here: () => this.#queue(live, tool),
        refused: (why) => this.#fail(live, { code: 'sandbox_unavailable', why }),
      });
    else this.#queue(live, tool);
  }

  /** A running tool gets the stop signal of its call; `live.release` returns the slot. One that waits for input does not run. */
  cancel({ call, tool: known }: LiveCall, _reason: string | null, before: Call): void {
    const { state } = before;
    if (isOpen(call) || state.name !== 'INPUT_REQUIRED' || state.held) return;
    const tool = known ?? this.#parts.toolIndex.find(call.tenant, call.toolName);
    if (tool?.runsOn.kind === 'server' && tool.version === call.toolVersion)
      tool.runsOn.tool.abandoned?.(carriedState(before));
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
    { code, why }: ToolProblem,
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
    const keys = this.#keys.of(serverToolOf(tool), live.call);
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
      const problem = changeProblem(this.#parts.toolIndex, live.call, tool);
      if (problem === null) run();
      else this.#fail(live, problem);
    });
    live.release = this.#offers.add(live, wait);
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

  /** The attempt is over. With the responses the call waits for a slot again. */
  async #returnedInput(live: LiveCall, tool: RegisteredTool, given: InputRequired): Promise<void> {
    // A response may arrive before this function continues, and its attempt then has a slot of its own: release only the old one.
    const { release } = live;
    live.release = nothing;
    let recorded: RecordedInput | null = null;
    try {
      const { requests, carry } = given;
      recorded = await this.#parts.inputRequests.record(live, {
        requests,
        held: false,
        carry,
        isRepeated: true,
      });
    } catch (error) {
      await this.#settle(live, tool, failed(failureOfThrown(error, tool.annotations.idempotent === true)));
    } finally {
      release();
    }
    if (recorded === 'given' && isOpen(live.call)) this.start(live);
  }
}

function serverToolOf({ runsOn, name }: RegisteredTool): ServerTool {
  if (runsOn.kind !== 'server') throw new Error(`${name} does not run in this process`);
  return runsOn.tool;
}
