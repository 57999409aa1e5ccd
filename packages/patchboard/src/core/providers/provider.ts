import { attemptsOf, type Call, type CallState } from '../call/call.ts';
import type { LiveCall } from '../call/live-call.ts';
import type { Failure } from '../failures.ts';
import type { RegisteredTool } from '../tools/registered-tool.ts';

/** The call that needs a place. */
export interface Wanted {
  readonly tenant: string;
  readonly toolName: string;
  readonly runId: string;
  /** A device's name or session, or the client; null: any. */
  readonly target: string | null;
}

/**
 * The port between the engine and whatever runs a tool. Its adapters are in-process tools (`in-process-provider.ts`),
 * the devices of a client (`../devices/device-provider.ts`) and the queue of a client
 * (`../devices/client-queue-provider.ts`). Nothing outside the adapters depends on the kind of a tool.
 */
export interface Provider {
  /** Reserves a place for a call that is about to be recorded, if one is free. */
  reserve(tool: RegisteredTool, wanted: Wanted, now: number): Reservation;
  /** Starts the next attempt of a recorded call that has no reservation: at once, or when a place is free. */
  start(live: LiveCall): void;
  /** The call has ended, or this process has dropped it. Null: it ended with the provider's own result. */
  cancel(live: LiveCall, reason: string | null): void;
  /**
   * Takes over a call that an earlier process left open, before it is started again. False: it was executing, and may
   * not be repeated. `tool`: as it is registered now.
   */
  recover(live: LiveCall, tool: RegisteredTool | undefined): boolean;
  isOnline(tool: RegisteredTool, tenant: string): boolean;
  /** How long a call may wait for a place after it was approved. */
  waitMs(call: Call): number;
  /** Why `target` cannot run the tool; null if it can. */
  targetProblem(tool: RegisteredTool, target: string): Failure | null;
  /** Reserves nothing more, and starts nothing that waits for a place. */
  stop(): void;
}

/** What a call is recorded with, and the place it holds by then. */
export interface Reservation {
  /** The call goes through all of them with its first commit. */
  readonly states: readonly CallState[];
  /** The call is recorded: runs it, in the background. */
  start(live: LiveCall): void;
  /** The call was not recorded. */
  giveBack(): void;
}

/** A call that holds no place. Without a provider it is not started: it waits for a decision, or has ended. */
export class NoPlace implements Reservation {
  readonly states: readonly CallState[];
  readonly #provider: Provider | null;

  constructor(states: readonly CallState[], provider: Provider | null = null) {
    this.states = states;
    this.#provider = provider;
  }

  start(live: LiveCall): void {
    this.#provider?.start(live);
  }

  giveBack(): void {
    // It holds nothing.
  }
}

/** Only an idempotent tool is attempted again, and only as often as `maxAttempts` says. */
export function mayRepeat(tool: RegisteredTool | undefined, call: Call, maxAttempts: number): boolean {
  return tool?.annotations.idempotent === true && attemptsOf(call) < maxAttempts;
}
