import { attemptsOf, type Call, type CallState } from '../call/call.ts';
import type { InputRound } from '../call/input.ts';
import type { LiveCall } from '../call/live-call.ts';
import type { Failure } from '../failures.ts';
import type { MaybePromise } from '../maybe-promise.ts';
import type { RegisteredTool } from '../tools/registered-tool.ts';

/** What a provider needs to know of a call that is about to be recorded. */
export interface ReservationRequest {
  readonly tenant: string;
  readonly toolName: string;
  readonly runId: string;
  /** Whether the limit of a run's concurrent calls applies. */
  readonly countsInRun: boolean;
  /** A device's name or session, or a client's id; null: any. */
  readonly target: string | null;
}

/**
 * The port between the engine and whatever runs a tool. Its adapters are in-process tools (`in-process-provider.ts`),
 * the devices of a client (`../devices/device-provider.ts`) and the queue of a client
 * (`../devices/client-queue-provider.ts`). Nothing outside the adapters depends on the kind of a tool.
 */
export interface Provider {
  /** Reserves a slot or a device for a call that is about to be recorded, if one is free. */
  reserve(tool: RegisteredTool, request: ReservationRequest, now: number): Reservation;
  /** Starts the next attempt of a recorded call that has no reservation: at once, or when a slot or device is free. */
  start(live: LiveCall): void;
  /**
   * Called when a call has ended, or this process has dropped it. `reason` null: it ended with the provider's own result.
   * `before`: the call as it was until then.
   */
  cancel(live: LiveCall, reason: string | null, before: Call): void;
  /**
   * Takes over a call that an earlier process left open, before it is started again. Returns false if the call was
   * executing and must not be repeated. `tool`: as it is registered now.
   */
  recover(live: LiveCall, tool: RegisteredTool | undefined): boolean;
  /** Whether the attempt that made a held input request still waits for the response. */
  awaitsInput(live: LiveCall): boolean;
  /** The caller has responded to an input request for which the attempt waits. */
  inputGiven(live: LiveCall, round: InputRound): void;
  isOnline(tool: RegisteredTool, tenant: string): boolean;
  /** How long a call may wait for a slot or device after its approval. */
  waitMs(call: Call): number;
  /** Returns why `target` cannot run the tool; null if it can. */
  targetProblem(tool: RegisteredTool, target: string): MaybePromise<Failure | null>;
  /** Stops reserving, and starts no waiting call any more. */
  stop(): void;
}

/** The states that a call is recorded with, and the slot or device that it holds. */
export interface Reservation {
  /** The states that the call goes through in its first commit. */
  readonly states: readonly CallState[];
  /** Called once the call is recorded: runs it in the background. */
  start(live: LiveCall): void;
  /** Releases the slot or device of a call that was not recorded. */
  release(): void;
}

/**
 * A reservation without slot or device. Without a provider the call is not started: it waits for an approval, or has
 * ended.
 */
export class EmptyReservation implements Reservation {
  readonly states: readonly CallState[];
  readonly #provider: Provider | null;

  constructor(states: readonly CallState[], provider: Provider | null = null) {
    this.states = states;
    this.#provider = provider;
  }

  start(live: LiveCall): void {
    this.#provider?.start(live);
  }

  release(): void {
    // Nothing is reserved.
  }
}

/** Whether another attempt is allowed: only for an idempotent tool, up to `maxAttempts` attempts. */
export function mayRepeat(tool: RegisteredTool | undefined, call: Call, maxAttempts: number): boolean {
  return tool?.annotations.idempotent === true && attemptsOf(call) < maxAttempts;
}
