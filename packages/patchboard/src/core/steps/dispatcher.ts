import type { FailureCode } from '@patchboard/wire';
import { attemptsOf, type CallState } from '../call/call.ts';
import type { Device } from '../devices/device.ts';
import type { DeviceRunner } from '../devices/device-runner.ts';
import { endState } from '../call/end-state.ts';
import { failure } from '../failures.ts';
import type { Lifecycle } from '../call/lifecycle.ts';
import type { Limits } from '../limits.ts';
import type { LiveCall } from '../call/live-call.ts';
import { runLocally, type LocalRunnerParts } from './local-runner.ts';
import { failed } from '../call/outcome.ts';
import type { Wanted } from '../devices/pools.ts';
import { pairKey } from '../pair-key.ts';
import type { Clock } from '../ports.ts';
import type { RegisteredTool } from '../tools/registered-tool.ts';
import type { Registry } from '../tools/registry.ts';
import type { ServerTool } from '../tools/server-tool.ts';
import { isAsApproved } from '../call/as-approved.ts';
import { settle, type SettlementParts } from './settlement.ts';
import { Slots, type SlotKey } from './slots.ts';
import { soon, type Soon } from '../soon.ts';
import type { Tasks } from '../tasks.ts';

export interface DispatcherParts extends LocalRunnerParts, SettlementParts {
  readonly lifecycle: Lifecycle;
  readonly registry: Registry;
  readonly devices: DeviceRunner;
  readonly limits: Limits;
  readonly clock: Clock;
  readonly tasks: Tasks;
}

/** By a call that waits, or is over from its first commit on. */
export const NOTHING_HELD: Pick<Start, 'slot' | 'device'> = { slot: null, device: null };

/** What a call is recorded with, and what it holds already by then. */
export interface Start {
  readonly states: CallState[];
  readonly slot: SlotKey[] | null;
  readonly device: Device | null;
}

const SERVER_SLOT = 'server';

function tenantSlot(tenant: string): string {
  return `tenant:${tenant}`;
}

/** Brings a recorded call to whoever runs it, and its outcome back to the record. */
export class Dispatcher {
  readonly slots: Slots = new Slots();
  readonly #parts: DispatcherParts;
  #isStopped = false;

  constructor(parts: DispatcherParts) {
    this.#parts = parts;
  }

  /**
   * The state in which a call is recorded: a server tool with a free slot executes from the first commit on, and so
   * does one of a device that is connected.
   */
  firstStates(tool: RegisteredTool, wanted: Wanted, now: number): Start {
    const { limits, devices } = this.#parts;
    const deadlineAt = now + tool.timeoutMs;
    const executing: CallState = { name: 'EXECUTING', deadlineAt, attempt: 1, cause: null };
    if (tool.runsOn.kind === 'client') {
      const waiting: CallState = { name: 'PENDING', deadlineAt };
      const device = this.#isStopped ? null : devices.reserve(wanted);
      if (device === null) return { states: [waiting], slot: null, device };
      return { states: [waiting, { ...executing, device: device.name }], slot: null, device };
    }
    const pending: CallState = { name: 'PENDING', deadlineAt: now + limits.queueWaitMs };
    const slot = this.#slotKeys(tool.runsOn.tool, wanted.tenant, wanted.runId);
    if (this.#isStopped || !this.slots.tryTake(slot)) return { states: [pending], slot: null, device: null };
    return { states: [pending, executing], slot, device: null };
  }

  /** Calls that wait for a slot, and those that execute in this server; null: of all tenants. */
  load(tenant: string | null): { waiting: number; executing: number } {
    const name = tenant === null ? SERVER_SLOT : tenantSlot(tenant);
    return { waiting: this.slots.waiting(name), executing: this.slots.held(name) };
  }

  /** Begins nothing more: what waits for a slot keeps waiting, over the restart too. */
  stop(): void {
    this.#isStopped = true;
  }

  /** Nothing comes of it. */
  giveBack({ slot, device }: Start): void {
    if (slot !== null) this.slots.give(slot);
    if (device !== null) this.#parts.devices.giveBack(device);
  }

  /** `start`: what the call holds already. Whatever follows happens in the background. */
  dispatch(live: LiveCall, { slot, device }: Pick<Start, 'slot' | 'device'> = NOTHING_HELD): void {
    if (live.call.clientId !== null) {
      this.#parts.devices.dispatch(live, device);
      return;
    }
    if (slot !== null) live.release = () => this.slots.give(slot);
    const registered = this.#parts.registry.find(live.call.tenant, live.call.toolName);
    const tool = live.tool ?? registered;
    // Another tool of the same name is not the one that this call was made with.
    if (tool === undefined || registered !== tool || tool.runsOn.kind !== 'server') {
      const outcome = slot === null ? this.#parts.lifecycle.outcomeKnowledge(live) : 'not_started';
      this.#endHere(live, 'tool_not_found', `tool not found: ${live.call.toolName}`, outcome);
      return;
    }
    const serverTool = tool.runsOn.tool;
    if (slot !== null) {
      this.#parts.tasks.start('execute', () => this.#execute(live, tool, serverTool));
      return;
    }
    // What was recorded, and maybe approved, to run enclosed must not run otherwise after a restart.
    const sandbox = serverTool.sandbox ?? null;
    if (live.call.sandbox !== sandbox) {
      const message = `the call was made for sandbox ${String(live.call.sandbox)}, and here it is ${String(sandbox)}`;
      this.#endHere(live, 'sandbox_unavailable', message);
    } else if (!isAsApproved(live.call, tool))
      this.#endHere(live, 'approval_denied', 'the tool changed after it was approved; ask again');
    else this.#queue(live, tool, serverTool);
  }

  /** It cannot go on in this process. Before a restart it may have begun. */
  #endHere(
    live: LiveCall,
    code: FailureCode,
    message: string,
    outcome = this.#parts.lifecycle.outcomeKnowledge(live),
  ): void {
    const ended = failed(failure(code, message, { outcome }));
    this.#parts.tasks.start('dispatch', async () => {
      await this.#parts.lifecycle.advanceSurely(live, [endState(ended, null)]);
    });
  }

  #queue(live: LiveCall, tool: RegisteredTool, serverTool: ServerTool): void {
    if (this.#isStopped) return;
    const keys = this.#slotKeys(serverTool, live.call.tenant, live.call.runId);
    const go = (): void => {
      if (this.#isStopped) return;
      live.release = () => this.slots.give(keys);
      this.#parts.tasks.start('execute', async () => {
        if (await this.#begin(live, tool)) await this.#execute(live, tool, serverTool);
      });
    };
    if (this.slots.tryTake(keys)) go();
    else live.release = this.slots.wait(keys, go);
  }

  /** Nothing runs before its EXECUTING state is durable. False: the call ended while it waited. */
  async #begin(live: LiveCall, tool: RegisteredTool): Promise<boolean> {
    const attempt = attemptsOf(live.call) + 1;
    const deadlineAt = this.#parts.clock.now() + Math.min(tool.timeoutMs, live.call.timeoutMs);
    return await this.#parts.lifecycle.advanceSurely(live, [
      { name: 'EXECUTING', deadlineAt, attempt, cause: attempt === 1 ? null : 'interrupted' },
    ]);
  }

  #execute(live: LiveCall, tool: RegisteredTool, serverTool: ServerTool): Soon<unknown> {
    return soon(runLocally(this.#parts, serverTool, live), (outcome) => {
      if (outcome === null) return;
      const settled = settle(this.#parts, live, tool, outcome, null);
      return soon(settled, (state) => this.#parts.lifecycle.advanceSurely(live, [state]));
    });
  }

  #slotKeys(tool: ServerTool, tenant: string, runId: string): SlotKey[] {
    const { limits } = this.#parts;
    const keys = [
      { name: `run:${pairKey(tenant, runId)}`, limit: limits.concurrencyPerRun },
      { name: tenantSlot(tenant), limit: limits.concurrencyPerTenant },
      { name: SERVER_SLOT, limit: limits.concurrencyServer },
    ];
    if (tool.concurrency !== null) keys.push({ name: `tool:${tool.name}`, limit: tool.concurrency });
    return keys;
  }
}
