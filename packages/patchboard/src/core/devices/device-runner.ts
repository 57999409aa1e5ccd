import { attemptsOf, isOpen, type CallState } from '../call/call.ts';
import type { Device } from './device.ts';
import { endState } from '../call/end-state.ts';
import { endFailure, failure } from '../failures.ts';
import type { Lifecycle } from '../call/lifecycle.ts';
import type { Limits } from '../limits.ts';
import { isIdempotent, type LiveCall } from '../call/live-call.ts';
import type { ClientQueues } from './client-queues.ts';
import { failed } from '../call/outcome.ts';
import type { Pools } from './pools.ts';
import type { Registry } from '../tools/registry.ts';
import { requestId } from './request-id.ts';
import type { Tasks } from '../tasks.ts';

export interface DeviceRunnerParts {
  readonly lifecycle: Lifecycle;
  readonly registry: Registry;
  readonly pools: Pools;
  readonly clientQueues: ClientQueues;
  readonly limits: Limits;
  readonly tasks: Tasks;
}

/** Brings a client's call to a device that is connected, or leaves it for the client to fetch. */
export class DeviceRunner {
  readonly #parts: DeviceRunnerParts;

  constructor(parts: DeviceRunnerParts) {
    this.#parts = parts;
  }

  /** Counts as busy from now on; `giveBack` if nothing comes of it. */
  reserve(wanted: Parameters<Pools['choose']>[0]): Device | null {
    const device = this.#parts.pools.choose(wanted);
    if (device === undefined) return null;
    device.reserved += 1;
    return device;
  }

  giveBack(device: Device): void {
    device.reserved -= 1;
  }

  /** `device`: it was recorded as executing there already. */
  dispatch(live: LiveCall, device: Device | null): void {
    if (device !== null && this.#isWithdrawn(live, device)) {
      this.giveBack(device);
      this.#parts.tasks.start('device', () => this.#failWithdrawn(live));
      return;
    }
    if (device !== null && this.#send(live, device)) return;
    if (device === null && live.call.state.name === 'EXECUTING') {
      // From before a restart: whoever runs it says so.
      this.#leave(live);
      return;
    }
    this.#parts.tasks.start('device', () => this.#begin(live));
  }

  /** A tool is offered again: what waits for it goes out. */
  wake(tenant: string, clientId: string, toolName: string): void {
    const { clientQueues } = this.#parts;
    for (const live of clientQueues.waiting(tenant, clientId, toolName)) {
      // Or it could be fetched while it is being recorded as executing here.
      clientQueues.take(live, null);
      this.dispatch(live, null);
    }
  }

  /** From now on the call is this device's. */
  bind(live: LiveCall, device: Device): void {
    live.device?.calls.delete(live);
    live.device = device;
    live.tool ??= this.#parts.registry.find(live.call.tenant, live.call.toolName);
    device.calls.add(live);
    live.release = () => finish(live);
  }

  /** Its device is gone for good. It runs again only if that does no harm. */
  lost(live: LiveCall): void {
    if (!isOpen(live.call)) return;
    live.device?.calls.delete(live);
    live.device = null;
    this.#parts.tasks.start('device lost', async () => {
      const { registry, limits } = this.#parts;
      const tool = registry.find(live.call.tenant, live.call.toolName);
      const isSafe = tool?.annotations.idempotent === true && attemptsOf(live.call) < limits.maxAttempts;
      if (isSafe && this.#parts.pools.isOnline(live.call.tenant, live.call.toolName)) await this.#begin(live);
      else await this.#fail(live, 'unknown');
    });
  }

  /** Nothing is sent before its EXECUTING state is durable. */
  async #begin(live: LiveCall): Promise<void> {
    for (;;) {
      const { call } = live;
      if (!isOpen(call)) return;
      const device = this.#isSameContract(live) ? this.reserve(call) : null;
      if (device === null) {
        if (call.state.name === 'EXECUTING') await this.#fail(live, live.pushed ? 'unknown' : 'not_started');
        else this.#leave(live);
        return;
      }
      const attempt = attemptsOf(call) + 1;
      const cause = attempt === 1 ? null : 'provider_disconnected';
      const { deadlineAt } = call.state;
      const next: CallState = { name: 'EXECUTING', deadlineAt, attempt, cause, device: device.name };
      if (!(await this.#parts.lifecycle.advanceSurely(live, [next]))) {
        this.giveBack(device);
        return;
      }
      if (this.#send(live, device)) return;
    }
  }

  /** The device is still there, and neither it nor another one offers the tool any more. */
  #isWithdrawn({ call: { tenant, toolName } }: LiveCall, { link, tools }: Device): boolean {
    return link !== null && !tools.has(toolName) && !this.#parts.pools.isOnline(tenant, toolName);
  }

  /** False: it is gone or offers the tool no more, and nothing was sent. */
  #send(live: LiveCall, device: Device): boolean {
    this.giveBack(device);
    if (!isOpen(live.call)) return true;
    if (device.link === null || !device.tools.has(live.call.toolName)) return false;
    this.bind(live, device);
    live.pushed = true;
    device.link.request(live.call);
    return true;
  }

  /** What was asked for, and perhaps approved, is not run under another contract. */
  #isSameContract({ call }: LiveCall): boolean {
    return this.#parts.registry.find(call.tenant, call.toolName)?.version === call.toolVersion;
  }

  #leave(live: LiveCall): void {
    if (live.call.clientId !== null) this.#parts.clientQueues.put(live.call.clientId, live);
  }

  async #failWithdrawn(live: LiveCall): Promise<void> {
    const message = `tool not found: ${live.call.toolName}`;
    const gone = failed(failure('tool_not_found', message, { outcome: 'not_started' }));
    await this.#parts.lifecycle.advanceSurely(live, [endState(gone, null)]);
  }

  async #fail(live: LiveCall, outcome: 'unknown' | 'not_started'): Promise<void> {
    const message =
      outcome === 'unknown'
        ? 'the device went away during the call; it may have had its effect'
        : 'the device went away before it was asked';
    const gone = failed(endFailure('provider_disconnected', message, outcome, isIdempotent(live)));
    await this.#parts.lifecycle.advanceSurely(live, [endState(gone, null)]);
  }
}

/** The call has ended. A device that did not end it itself is told to stop. */
function finish(live: LiveCall): void {
  const { device, call } = live;
  if (device === null) return;
  device.calls.delete(live);
  live.device = null;
  const { state } = call;
  if ('deadlineAt' in state || state.resultDigest !== null) return;
  device.link?.cancel(requestId(call), 'error' in state ? state.error.code : 'ended');
}
