import { reason } from '@patchboard/wire';
import { failure } from '../failures.ts';
import { TimerWheel } from '../timer-wheel.ts';
import { isOpen, type Call } from './call.ts';
import { outcomeOf } from './end-state.ts';
import { abandon } from './fence.ts';
import type { LifecycleParts } from './lifecycle-parts.ts';
import { nothing, type LiveCall } from './live-call.ts';
import { OpenCalls } from './open-calls.ts';
import type { BadOutcome } from './outcome.ts';

type LiveCallsParts = Pick<LifecycleParts, 'clock' | 'log' | 'cancelled' | 'ended' | 'dropped'>;

/**
 * The calls that this process manages, with their deadlines and counts. It applies rows that are committed, and writes
 * nothing itself.
 */
export class LiveCalls {
  readonly wheel: TimerWheel;
  readonly open: OpenCalls = new OpenCalls();
  readonly #parts: LiveCallsParts;
  /** Called when the deadline of a call passes. */
  readonly #expire: (live: LiveCall) => void;
  readonly #byId: Map<string, LiveCall> = new Map();
  /** With what the work of a fenced process is stopped; null: it is not fenced. */
  #fenced: BadOutcome | null = null;

  constructor(parts: LiveCallsParts, expire: (live: LiveCall) => void) {
    this.#parts = parts;
    this.#expire = expire;
    this.wheel = new TimerWheel(parts.clock);
  }

  get isFenced(): boolean {
    return this.#fenced !== null;
  }

  find(id: string): LiveCall | undefined {
    return this.#byId.get(id);
  }

  all(): LiveCall[] {
    return [...this.#byId.values()];
  }

  enter(live: LiveCall): void {
    const { call } = live;
    this.#byId.set(call.id, live);
    if (isOpen(call)) this.open.add(call);
    if (this.#fenced === null) this.#arm(live);
    else this.#abandon(live, this.#fenced);
  }

  /** Continuations of commits may run in any order: a row that is not newer than `live.call` changes nothing. */
  apply(live: LiveCall, to: Call): void {
    const from = live.call;
    if (to.version <= from.version || !isOpen(from)) return;
    live.call = to;
    if (!isOpen(to)) {
      this.open.remove(from);
      live.disarm();
      this.#retire(live, from);
      return;
    }
    this.open.move(from, to);
    // An unchanged deadline stays armed: rearming would make it follow a jump of the wall clock.
    if (from.state.deadlineAt === to.state.deadlineAt) return;
    live.disarm();
    this.#arm(live);
  }

  /**
   * Applies the row of a writer that committed first, maybe in another process. If the row is gone, or older than the one
   * this process read, this process drops the call.
   */
  applyCurrent(live: LiveCall, expectedVersion: number, current: Call | undefined): void {
    if (current === undefined || current.version < expectedVersion) {
      this.drop(live);
      return;
    }
    if (!isOpen(live.call)) return;
    this.apply(live, current);
    const { state } = live.call;
    if (!('deadlineAt' in state)) live.stop.fire(outcomeOf(state));
  }

  /** Forgets the call in this process, stops its work and releases its slot. Changes no state. */
  drop(live: LiveCall): void {
    const { call } = live;
    if (!this.forget(live)) return;
    this.#parts.log.warn('call.dropped', { tool_call_id: call.id, version: call.version });
    live.stop.fire({ kind: 'cancelled', failure: failure('cancelled', reason('call_not_stored')) });
    this.release(live, 'cancelled');
    this.#parts.dropped(call);
  }

  /** Removes the call, its deadline and its counts. Returns false if it was removed before. */
  forget(live: LiveCall): boolean {
    const { call } = live;
    if (!this.#byId.delete(call.id)) return false;
    if (isOpen(call)) this.open.remove(call);
    live.disarm();
    return true;
  }

  /** Releases the slot of the call and makes its provider stop. `reason`, `before`: see `Provider.cancel`. */
  release(live: LiveCall, reason: string | null, before: Call = live.call): void {
    live.disarm = nothing;
    live.release();
    live.release = nothing;
    this.#parts.cancelled(live, reason, before);
  }

  /** Stops all work and forgets all calls, also those that are entered later. */
  fence(outcome: BadOutcome): void {
    this.#fenced = outcome;
    for (const live of this.#byId.values()) this.#abandon(live, outcome);
  }

  /** After an attempt to end the call at `deadlineAt` failed: calls `expire` again in `ms`. */
  rearm(live: LiveCall, deadlineAt: number, ms: number): void {
    const { call } = live;
    // A move to another deadline has armed that one already.
    if (isOpen(call) && call.state.deadlineAt === deadlineAt && this.#byId.get(call.id) === live)
      live.disarm = this.wheel.after(ms, () => this.#expire(live));
  }

  #arm(live: LiveCall): void {
    if (!isOpen(live.call)) return;
    const left = live.call.state.deadlineAt - this.#parts.clock.now();
    live.disarm = this.wheel.after(left, () => this.#expire(live));
  }

  #retire(live: LiveCall, before: Call): void {
    const { call } = live;
    this.#byId.delete(call.id);
    this.release(live, 'error' in call.state ? call.state.error.code : null, before);
    this.#parts.ended(call);
  }

  #abandon(live: LiveCall, outcome: BadOutcome): void {
    this.forget(live);
    abandon(live, outcome);
  }
}
