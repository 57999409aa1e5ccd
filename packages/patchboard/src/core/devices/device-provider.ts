import { reason } from '@patchboard/wire';
import {
  attemptsOf,
  isOpen,
  type AttemptRunner,
  type Call,
  type CallState,
  type OpenState,
} from '../call/call.ts';
import { endState } from '../call/end-state.ts';
import type { InputRound } from '../call/input.ts';
import type { Lifecycle } from '../call/lifecycle.ts';
import { isIdempotent, type LiveCall } from '../call/live-call.ts';
import { failed } from '../call/outcome.ts';
import { endFailure, failure, type Failure } from '../failures.ts';
import type { Limits } from '../limits.ts';
import { andThen, type MaybePromise } from '../maybe-promise.ts';
import {
  mayRepeat,
  EmptyReservation,
  type Provider,
  type Reservation,
  type ReservationRequest,
} from '../providers/provider.ts';
import type { Peers } from '../peers.ts';
import type { Clock, Store } from '../ports.ts';
import type { Tasks } from '../tasks.ts';
import type { RegisteredTool } from '../tools/registered-tool.ts';
import type { ToolIndex } from '../tools/tool-index.ts';
import { hasBegun } from './client-call.ts';
import { hasAsked, lastResponse } from './client-inputs.ts';
import type { ClientQueues } from './client-queues.ts';
import type { Device } from './device.ts';
import type { Pools } from './pools.ts';
import { requestId } from './request-id.ts';

export interface DeviceProviderParts {
  readonly store: Pick<Store, 'devices'>;
  readonly peers: Peers;
  readonly lifecycle: Lifecycle;
  readonly toolIndex: ToolIndex;
  readonly pools: Pools;
  readonly clientQueues: ClientQueues;
  /** The provider for calls without a connected device. */
  readonly queue: Provider;
  readonly limits: Limits;
  readonly clock: Clock;
  readonly tasks: Tasks;
}

/** In grace periods: after a restart, devices back off for up to one and then queue to reconnect; see decision 50. */
const RESTART_PATIENCE = 6;

/** Sends calls to a connected device that offers their tool, and puts the others into the client's queue. */
export class DeviceProvider implements Provider {
  readonly #parts: DeviceProviderParts;
  /** The connected device that runs each call. */
  readonly #running: Map<LiveCall, Device> = new Map();
  /** Cancels the timer of each call whose device has not reconnected since the restart. */
  readonly #awaited: Map<LiveCall, () => void> = new Map();
  #isStopped = false;

  constructor(parts: DeviceProviderParts) {
    this.#parts = parts;
  }

  /** If a device is connected, the call is recorded as EXECUTING in its first commit. */
  reserve(tool: RegisteredTool, request: ReservationRequest, now: number): Reservation {
    const device = this.#isStopped ? null : this.#choose(request);
    const { states } = this.#parts.queue.reserve(tool, request, now);
    if (device === null) return new EmptyReservation(states, this);
    const executing = {
      name: 'EXECUTING',
      deadlineAt: now + tool.timeoutMs,
      attempt: 1,
      cause: null,
    } as const;
    return new DeviceReservation(this, device, [...states, { ...executing, ...this.#named(device) }]);
  }

  releaseDevice(device: Device): void {
    device.reserved -= 1;
  }

  /** The call was recorded as executing on `device`. */
  startReserved(live: LiveCall, device: Device): void {
    if (this.#isWithdrawn(live, device)) {
      this.releaseDevice(device);
      this.#parts.tasks.start('device', () => this.#failWithdrawn(live));
      return;
    }
    if (!this.#send(live, device)) this.#parts.tasks.start('device', () => this.#begin(live));
  }

  start(live: LiveCall): void {
    const { call } = live;
    if (!hasBegun(call)) {
      this.#parts.tasks.start('device', () => this.#begin(live));
      return;
    }
    // The call was executing before a restart: the device or client that runs it will report its result.
    if ('device' in call.state && call.state.device !== undefined) this.#awaitReturn(live);
    this.#parts.queue.start(live);
  }

  /** A device that is still working on the call is stopped by `live.release`. */
  cancel(live: LiveCall, reason: string | null, before: Call): void {
    this.#parts.queue.cancel(live, reason, before);
  }

  recover(live: LiveCall, tool: RegisteredTool | undefined): boolean {
    return this.#parts.queue.recover(live, tool);
  }

  /** A device that is disconnected gets the response when it resumes. */
  awaitsInput(live: LiveCall): boolean {
    return this.#parts.queue.awaitsInput(live);
  }

  inputGiven(live: LiveCall, round: InputRound): void {
    this.deviceOf(live)?.link?.inputGiven(live.call, round);
    this.#parts.queue.inputGiven(live, round);
  }

  isOnline(tool: RegisteredTool, tenant: string): boolean {
    return this.#parts.pools.isOnline(tenant, tool.name) || this.#parts.queue.isOnline(tool, tenant);
  }

  waitMs(call: Call): number {
    return this.#parts.queue.waitMs(call);
  }

  targetProblem(tool: RegisteredTool, target: string): MaybePromise<Failure | null> {
    const { store, pools, queue } = this.#parts;
    const tenant = tool.tenant ?? '';
    if (pools.offers(tenant, tool.name, target)) return null;
    return andThen(queue.targetProblem(tool, target), (problem) => {
      if (problem === null || store.devices === undefined) return problem;
      const offering = store.devices.offersElsewhere(tenant, tool.name, target);
      return offering.then((isElsewhere) => (isElsewhere ? null : problem));
    });
  }

  stop(): void {
    this.#isStopped = true;
    this.#parts.queue.stop();
  }

  /** A device offers the tool again: sends the calls that wait for it. */
  wake(tenant: string, clientId: string, toolName: string): void {
    const { clientQueues } = this.#parts;
    for (const live of clientQueues.waiting(tenant, clientId)) {
      if (live.call.toolName !== toolName) continue;
      // Otherwise the client could poll the call while it is being recorded as executing here.
      clientQueues.take(live, null);
      this.start(live);
    }
  }

  /** Whether a device that is connected here could run the call. */
  canSend({ tenant, toolName, target }: Call): boolean {
    const { pools } = this.#parts;
    return target === null ? pools.isOnline(tenant, toolName) : pools.offers(tenant, toolName, target);
  }

  /** Sends a call that another node holds to a device that is connected here, which makes it a call of this node. */
  async take(live: LiveCall): Promise<void> {
    if (!this.#isStopped && this.#parts.peers.hasLease()) await this.#begin(live);
  }

  /** Returns the connected device that runs the call, or null. */
  deviceOf(live: LiveCall): Device | null {
    return this.#running.get(live) ?? null;
  }

  /** Assigns the call to this device. */
  bind(live: LiveCall, device: Device): void {
    this.#unbind(live);
    this.#running.set(live, device);
    // After a restart the call may have been recovered before its tool was registered again. A later contract does not count.
    if (live.tool === undefined) {
      const { tenant, toolName, toolVersion } = live.call;
      const tool = this.#parts.toolIndex.find(tenant, toolName);
      if (tool?.version === toolVersion) live.tool = tool;
    }
    device.calls.add(live);
    live.release = () => this.#finish(live);
  }

  /** Assigns a call of an earlier connection to the device. `holding`: the requests that the device listed. */
  reassign(live: LiveCall, device: Device, holding: readonly string[] | null): void {
    this.bind(live, device);
    if (holding === null || holding.includes(requestId(live.call))) sendLastResponse(device, live);
    // The device listed its requests without this one. It has asked the caller, so it has begun, and lost the request.
    else if (hasAsked(live.call)) this.lost(live);
    // The request was lost on the way and did not start.
    else device.link?.request(live.call);
  }

  /** The device of the call will not come back. Runs the call again only if repeating it is safe. */
  lost(live: LiveCall): void {
    if (!isOpen(live.call)) return;
    this.#unbind(live);
    this.#parts.tasks.start('device lost', async () => {
      const { toolIndex, limits, pools } = this.#parts;
      const { tenant, toolName } = live.call;
      const isSafe = mayRepeat(toolIndex.find(tenant, toolName), live.call, limits.maxAttempts);
      if (isSafe && pools.isOnline(tenant, toolName)) await this.#begin(live);
      else await this.#fail(live, 'unknown');
    });
  }

  /** Gives the device of a call time to reconnect after a restart. */
  #awaitReturn(live: LiveCall): void {
    const { lifecycle, limits } = this.#parts;
    const disarm = lifecycle.wheel.after(limits.deviceGraceMs * RESTART_PATIENCE, () => this.lost(live));
    this.#awaited.set(live, disarm);
    live.release = () => this.#finish(live);
  }

  /** Reserves the chosen device: it counts as busy from now on. */
  #choose(request: ReservationRequest): Device | null {
    const device = this.#parts.pools.choose(request);
    if (device === undefined) return null;
    device.reserved += 1;
    return device;
  }

  /** Sends the call once its EXECUTING state is durable. */
  async #begin(live: LiveCall): Promise<void> {
    for (;;) {
      const { call } = live;
      if (!isOpen(call) || live.ownership === 'lost') return;
      const device = this.#isSameContract(live) ? this.#choose(call) : null;
      if (device === null) {
        // Another node holds the call, and this one cannot send it after all.
        if (live.ownership === 'borrowed') return;
        if (hasBegun(call)) await this.#fail(live, live.pushed ? 'unknown' : 'not_started');
        else this.#parts.queue.start(live);
        return;
      }
      const attempt = attemptsOf(call) + 1;
      const cause = attempt === 1 ? null : 'provider_disconnected';
      const deadlineAt = this.#toolDeadline(call);
      const next: CallState = { name: 'EXECUTING', deadlineAt, attempt, cause, ...this.#named(device) };
      if (!(await this.#parts.lifecycle.advanceWithRetry(live, [next]))) {
        this.releaseDevice(device);
        // A response of the caller, or a claim of this node, was committed first: the call still needs its next attempt.
        const isUnsent = live.call.version !== call.version && attemptsOf(live.call) === attempt - 1;
        if (isUnsent && (hasBegun(live.call) || live.ownership !== 'borrowed')) continue;
        return;
      }
      if (this.#send(live, device)) return;
    }
  }

  /** When the tool's time is over. The clock of the tool stops while an input request is open. */
  #toolDeadline({ state, inputs }: Call & { readonly state: OpenState }): number {
    const last = inputs.at(-1);
    return state.name === 'INPUT_REQUIRED' && last !== undefined
      ? this.#parts.clock.now() + last.remainingMs
      : state.deadlineAt;
  }

  /** Whether the device is connected and neither it nor another device offers the tool any more. */
  #isWithdrawn({ call: { tenant, toolName } }: LiveCall, { link, tools }: Device): boolean {
    return link !== null && !tools.has(toolName) && !this.#parts.pools.isOnline(tenant, toolName);
  }

  /** Returns false, and sends nothing, if the device is gone or no longer offers the tool. */
  #send(live: LiveCall, device: Device): boolean {
    this.releaseDevice(device);
    if (!isOpen(live.call)) return true;
    if (device.link === null || !device.tools.has(live.call.toolName)) return false;
    this.bind(live, device);
    live.pushed = true;
    device.link.request(live.call);
    return true;
  }

  /** A call is not run under another contract than the one it was submitted, and perhaps approved, for. */
  #isSameContract({ call }: LiveCall): boolean {
    return this.#parts.toolIndex.find(call.tenant, call.toolName)?.version === call.toolVersion;
  }

  async #failWithdrawn(live: LiveCall): Promise<void> {
    const why = reason('tool_unknown', { tool: live.call.toolName });
    const gone = failed(failure('tool_not_found', why, { outcome: 'not_started' }));
    await this.#parts.lifecycle.advanceWithRetry(live, [endState(gone, null)]);
  }

  async #fail(live: LiveCall, outcome: 'unknown' | 'not_started'): Promise<void> {
    const message = outcome === 'unknown' ? reason('device_left_running') : reason('device_left_unasked');
    const gone = failed(endFailure('provider_disconnected', message, outcome, isIdempotent(live)));
    await this.#parts.lifecycle.endWithRetry(live, endState(gone, null));
  }

  #named({ name, firstSession }: Device): AttemptRunner {
    return this.#parts.peers.isSingle ? { device: name } : { device: name, deviceSession: firstSession };
  }

  #unbind(live: LiveCall): Device | null {
    this.#awaited.get(live)?.();
    this.#awaited.delete(live);
    const device = this.deviceOf(live);
    device?.calls.delete(live);
    this.#running.delete(live);
    return device;
  }

  /** The call has ended, or another node has it. Cancels the work of a device that did not end it itself. */
  #finish(live: LiveCall): void {
    const device = this.#unbind(live);
    const { state } = live.call;
    // Another node manages the call, and the device works on.
    if (live.ownership === 'lost' && isOpen(live.call)) return;
    if (device === null || ('resultDigest' in state && state.resultDigest !== null)) return;
    device.link?.cancel(requestId(live.call), 'error' in state ? state.error.code : 'ended');
  }
}

class DeviceReservation implements Reservation {
  readonly states: readonly CallState[];
  readonly #provider: DeviceProvider;
  readonly #device: Device;

  constructor(provider: DeviceProvider, device: Device, states: readonly CallState[]) {
    this.#provider = provider;
    this.#device = device;
    this.states = states;
  }

  start(live: LiveCall): void {
    this.#provider.startReserved(live, this.#device);
  }

  release(): void {
    this.#provider.releaseDevice(this.#device);
  }
}

/** The response may have been given while the device was disconnected. A device that has it ignores it. */
function sendLastResponse({ link }: Device, { call }: LiveCall): void {
  const round = lastResponse(call);
  if (round !== null) link?.inputGiven(call, round);
}
