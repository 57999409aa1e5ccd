import { reason } from '@patchboard/wire';
import { failure } from '../failures.ts';
import type { MaybePromise } from '../maybe-promise.ts';
import type { Replaced } from '../ports.ts';
import { isOpen, runsInProcess, type Call, type CallState } from './call.ts';
import { outcomeOf } from './end-state.ts';
import type { LifecycleParts, MoveExtra } from './lifecycle-parts.ts';
import { isOurs, liveCall, nothing, REMOTE_CALLER, type LiveCall } from './live-call.ts';
import type { LiveCalls } from './live-calls.ts';
import type { BadOutcome } from './outcome.ts';

type SharedCallsParts = Pick<
  LifecycleParts,
  'store' | 'peers' | 'toolOf' | 'ended' | 'movedElsewhere' | 'respondedElsewhere' | 'goesOn'
>;

type Commit = (live: LiveCall, states: readonly CallState[], extra: MoveExtra) => MaybePromise<boolean>;

/** With what the work on a call is stopped that another node has now. It is not recorded. */
export const MOVED: BadOutcome = {
  kind: 'cancelled',
  failure: failure('cancelled', reason('call_moved_elsewhere')),
};

/** Calls that pass between nodes: those that another node holds or has held, and those that it took from this one. */
export class SharedCalls {
  readonly #parts: SharedCallsParts;
  readonly #calls: LiveCalls;
  readonly #commit: Commit;
  /** The last move of each borrowed call that is under way. */
  readonly #borrowing: Map<string, Promise<void>> = new Map();
  /** The moves of this node that are under way, by the id of their call. */
  readonly #moving: Map<string, Promise<unknown>> = new Map();
  /** Calls whose end was reported before the borrowed move that ended them was applied. */
  readonly #reported: Set<string> = new Set();

  constructor(parts: SharedCallsParts, calls: LiveCalls, commit: Commit) {
    this.#parts = parts;
    this.#calls = calls;
    this.#commit = commit;
  }

  /** See `Lifecycle.reach`. */
  reach(call: Call): LiveCall | undefined {
    const live = this.#calls.find(call.id);
    // Of a fenced process the moves fail, but it must not report the calls that it forgot as ended.
    const isOnlyHere = this.#parts.peers.isSingle && !this.#calls.isFenced;
    if (live !== undefined || isOnlyHere || !isOpen(call)) return live;
    const borrowed = liveCall(call, REMOTE_CALLER, this.#parts.toolOf(call), 'borrowed');
    // The client may have received it from the node that holds it.
    borrowed.pushed = !runsInProcess(call) && call.state.name !== 'APPROVAL_REQUIRED';
    return borrowed;
  }

  /** See `Lifecycle.refresh`. */
  async refresh(id: string, version: number): Promise<void> {
    let current: Call | undefined;
    // The row may be the result of a move of this node whose continuation has not run: its compare-and-set decides.
    do {
      await this.#moving.get(id);
      current = await this.#parts.store.findCall(id);
    } while (this.#moving.has(id));
    const live = this.#calls.find(id);
    if (live === undefined) {
      if (current !== undefined) this.#parts.movedElsewhere(current);
      return;
    }
    if (live.call.version < version) {
      const before = live.call;
      if (current === undefined || !keepsHolder(before, current)) return this.#disown(live, current);
      this.#calls.apply(live, current);
      if (current.pinned === true) this.#parts.goesOn(live);
    }
    this.#parts.respondedElsewhere(live);
  }

  /** With other nodes: remembers a move of this node until it is applied, then notifies the nodes that may await it. */
  follow(moving: MaybePromise<boolean>, from: Call, to: Call, live: LiveCall): MaybePromise<boolean> {
    const { id } = from;
    const notify = (hasMoved: boolean): boolean => {
      if (hasMoved && live.ownership === 'own' && isOpen(to) && asksOrGoesOn(from, to))
        this.#parts.peers.moved(to);
      return hasMoved;
    };
    if (!(moving instanceof Promise)) return notify(moving);
    const before = this.#moving.get(id);
    const over = Promise.allSettled([before, moving]).then(() => {
      if (this.#moving.get(id) === over) this.#moving.delete(id);
    });
    this.#moving.set(id, over);
    return moving.then(notify);
  }

  /** See `Lifecycle.give`. */
  async give(live: LiveCall, node: number): Promise<boolean> {
    const { id } = live.call;
    while (this.#moving.has(id)) await this.#moving.get(id);
    if (!isOurs(live)) return false;
    const { version } = live.call;
    if (!(await this.#parts.peers.give(live.call, node))) return false;
    await this.refresh(id, version + 1);
    return true;
  }

  /** See `Lifecycle.forgetOlder`. */
  async forgetOlder(call: Call): Promise<void> {
    // The row may be the result of a move of this node.
    while (this.#moving.has(call.id)) await this.#moving.get(call.id);
    const live = this.#calls.find(call.id);
    if (live !== undefined && live.call.version < call.version) this.#disown(live, call);
  }

  /** Moves of borrowed calls run one after the other, so that the node adopts or ends each call once. */
  commit(live: LiveCall, states: readonly CallState[], extra: MoveExtra): MaybePromise<boolean> {
    if (live.ownership === 'lost') return false;
    if (live.ownership === 'adopted') return this.#commit(live, states, extra);
    const { id } = live.call;
    const turn = (this.#borrowing.get(id) ?? Promise.resolve()).then(() => this.#commit(live, states, extra));
    const over = turn.then(nothing, nothing).then(() => {
      if (this.#borrowing.get(id) !== over) return;
      this.#borrowing.delete(id);
      this.#reported.delete(id);
    });
    this.#borrowing.set(id, over);
    return turn;
  }

  /** Applies the committed move of a call that another node holds or has held. */
  apply(live: LiveCall, to: Call, holderStays: boolean): void {
    if (live.ownership === 'lost') return;
    if (live.ownership === 'borrowed') {
      // Another borrowed object may have made the call this node's meanwhile.
      const own = this.#calls.find(to.id);
      live.call = to;
      if (own !== undefined) this.#calls.applyCurrent(own, to.version, to);
      else if (!isOpen(to)) {
        if (!this.#reported.has(to.id)) this.#parts.ended(to);
      } else if (!holderStays) {
        live.ownership = 'adopted';
        this.#calls.enter(live);
      }
    } else this.#calls.apply(live, to);
    this.#parts.peers.moved(to);
  }

  /** Another writer committed first. Returns false. */
  overtaken(
    live: LiveCall,
    expectedVersion: number,
    { current, elsewhere }: Extract<Replaced, { kind: 'conflict' }>,
  ): false {
    if (live.ownership === 'lost') return false;
    if (live.ownership === 'borrowed') live.call = current ?? live.call;
    else if (elsewhere === true) this.#disown(live, current);
    else {
      const before = live.call;
      this.#calls.applyCurrent(live, expectedVersion, current);
      const { call } = live;
      if (call.pinned === true && keepsHolder(before, call)) this.#parts.goesOn(live);
      if (!isOpen(call) && this.#borrowing.has(call.id)) this.#reported.add(call.id);
    }
    return false;
  }

  /**
   * Another node manages the call now, or has ended it: stops the work, releases the slot and forgets the call. The end is
   * neither counted nor logged here.
   */
  #disown(live: LiveCall, current: Call | undefined): void {
    if (current === undefined) return this.#calls.drop(live);
    if (!isOurs(live) || current.version <= live.call.version || !this.#calls.forget(live)) return;
    const before = live.call;
    live.call = current;
    live.ownership = 'lost';
    live.stop.fire('deadlineAt' in current.state ? MOVED : outcomeOf(current.state));
    // Null: a client that works on an open call goes on.
    this.#calls.release(live, 'error' in current.state ? current.state.error.code : null, before);
    this.#parts.movedElsewhere(current);
  }
}

/** Requests on other nodes may wait for the input request, or for the response to it. */
function asksOrGoesOn(from: Call, to: Call): boolean {
  return from.state.name === 'INPUT_REQUIRED' || to.state.name === 'INPUT_REQUIRED';
}

/**
 * Whether another node has only recorded a response to the held input request for which the attempt waits here, or what a
 * pinned call waited for.
 */
function keepsHolder(before: Call, now: Call): boolean {
  const isDecided = before.state.name === 'APPROVAL_REQUIRED' && now.state.name === 'APPROVED';
  return (now.pinned === true && isDecided) || isResponseTo(before, now);
}

function isResponseTo({ state: before }: Call, { state: now, pinned }: Call): boolean {
  if (before.name !== 'INPUT_REQUIRED' || now.name !== 'INPUT_REQUIRED') return false;
  return before.attempt === now.attempt && ((before.held && now.held) || pinned === true);
}
