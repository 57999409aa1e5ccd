import { type OutcomeKnowledge, reason } from '@patchboard/wire';
import {
  attemptsOf,
  IllegalMove,
  isOpen,
  move,
  runsInProcess,
  type Approval,
  type Call,
  type CallState,
  type EndState,
} from './call.ts';
import { endState, expiry, outcomeOf } from './end-state.ts';
import { failure, foreignText, messageOf, StorageUnavailable } from '../failures.ts';
import { callRow, type LedgerDraft } from '../ledger/ledger.ts';
import {
  isIdempotent,
  isOurs,
  liveCall,
  nothing,
  REMOTE_CALLER,
  type InProcessCaller,
  type LiveCall,
  type Ownership,
} from './live-call.ts';
import type { InputRound } from './input.ts';
import type { OfferedInputs } from './offered-inputs.ts';
import { OpenCalls } from './open-calls.ts';
import type { BadOutcome } from './outcome.ts';
import type { Peers } from '../peers.ts';
import type { Clock, Digest, Inserted, Log, NewCall, Replaced, Store } from '../ports.ts';
import { redactEnded, type Redactor } from './redaction.ts';
import { andThen, type MaybePromise } from '../maybe-promise.ts';
import type { RegisteredTool } from '../tools/registered-tool.ts';
import { TimerWheel } from '../timer-wheel.ts';

export interface LifecycleParts {
  readonly store: Store;
  readonly peers: Peers;
  readonly clock: Clock;
  readonly log: Log;
  readonly digest: Digest;
  readonly redactor: Redactor;
  /** The tool that a call was submitted with, if it is still registered. */
  readonly toolOf: (call: Call) => RegisteredTool | undefined;
  /** Called before `ended` and `dropped`, so that the provider stops working on the call. `reason`: see `Provider.cancel`. */
  readonly cancelled: (live: LiveCall, reason: string | null) => void;
  /** Called once for each call, after its end state is durable. */
  readonly ended: (call: Call) => void;
  /** Called with a call whose row is gone from the store: this process forgets it. */
  readonly dropped: (call: Call) => void;
  /** Called with the current row of a call that another node moved: it manages the call now, or has ended it. */
  readonly movedElsewhere: (call: Call) => void;
  /** Called with a call of this node when another node has recorded a response to its held input request. */
  readonly respondedElsewhere: (live: LiveCall) => void;
}

/** Changes that are committed together with a move. */
export interface MoveExtra {
  readonly approval?: Approval;
  /** The arguments as an operator edited them. */
  readonly argsJson?: string;
  /** What the caller was asked, and its responses. */
  readonly inputs?: readonly InputRound[];
  /** The responses that came with the request and are left. */
  readonly offered?: OfferedInputs;
  /** Ledger rows besides those of the moves. */
  readonly rows?: (call: Call) => readonly LedgerDraft[];
  /** A borrowed call stays with the node that holds it. */
  readonly keepsHolder?: boolean;
}

export interface Recorded {
  readonly inserted: Inserted;
  /** Null if nothing was recorded, or the call was recorded in an end state. */
  readonly live: LiveCall | null;
}

const PERSIST_RETRY_MS = 500;

const MOVED: BadOutcome = {
  kind: 'cancelled',
  failure: failure('cancelled', reason('call_moved_elsewhere')),
};

/** Owns the open calls: commits every state change of every call, and ends a call when its deadline passes. */
export class Lifecycle {
  readonly wheel: TimerWheel;
  readonly #parts: LifecycleParts;
  readonly #live: Map<string, LiveCall> = new Map();
  /** The last move of each borrowed call that is under way. */
  readonly #borrowing: Map<string, Promise<void>> = new Map();
  #isClosed = false;
  /** Why no write of this process succeeds any more; null: they do. */
  #fenced: BadOutcome | null = null;
  #writes: Pick<Store, 'insertCall' | 'replaceCall'>;
  readonly open: OpenCalls = new OpenCalls();

  constructor(parts: LifecycleParts) {
    this.#parts = parts;
    this.#writes = parts.store;
    this.wheel = new TimerWheel(parts.clock);
  }

  get size(): number {
    return this.#live.size;
  }

  find(id: string): LiveCall | undefined {
    return this.#live.get(id);
  }

  all(): LiveCall[] {
    return [...this.#live.values()];
  }

  /**
   * Returns the live call, or borrows a call that another node holds, to make one move. `call`: the row that was read.
   * Undefined: the call has ended.
   */
  reach(call: Call): LiveCall | undefined {
    const live = this.#live.get(call.id);
    // Of a fenced process the moves fail, but it must not report the calls that it forgot as ended.
    const isOnlyHere = this.#parts.peers.isSingle && this.#fenced === null;
    if (live !== undefined || isOnlyHere || !isOpen(call)) return live;
    const borrowed = liveCall(call, REMOTE_CALLER, this.#parts.toolOf(call), 'borrowed');
    // The client may have received it from the node that holds it.
    borrowed.pushed = !runsInProcess(call) && call.state.name !== 'APPROVAL_REQUIRED';
    return borrowed;
  }

  /** Another node has moved the call to `version`: compares the live call with the store. */
  async look(id: string, version: number): Promise<void> {
    const current = await this.#parts.store.findCall(id);
    const live = this.#live.get(id);
    if (live === undefined) {
      if (current !== undefined) this.#parts.movedElsewhere(current);
      return;
    }
    if (live.call.version < version) {
      if (current === undefined || !isResponseTo(live.call, current)) return this.#disown(live, current);
      this.#apply(live, current);
    }
    this.#parts.respondedElsewhere(live);
  }

  /** Records a new call. It is live from the commit on, unless it is recorded in an end state. */
  record(record: NewCall, caller: InProcessCaller, tool: RegisteredTool | undefined): MaybePromise<Recorded> {
    const { call } = record;
    const kept = isOpen(call) ? record : { ...record, call: redactEnded(this.#parts.redactor, call) };
    return andThen(this.#writes.insertCall(kept), (inserted) => {
      if (inserted.kind === 'inserted' && isOpen(call))
        return { inserted, live: this.adopt(call, caller, tool) };
      if (inserted.kind === 'inserted') this.#parts.ended(call);
      return { inserted, live: null };
    });
  }

  /** Starts to manage an open call that is already stored. `tool`: the tool it was submitted with, if it is known. */
  adopt(
    call: Call,
    caller: InProcessCaller,
    tool: RegisteredTool | undefined,
    ownership: Ownership = 'own',
  ): LiveCall {
    const live = liveCall(call, caller, tool, ownership);
    this.#enter(live);
    return live;
  }

  #enter(live: LiveCall): void {
    const { call } = live;
    this.#live.set(call.id, live);
    if (isOpen(call)) this.open.add(call);
    if (this.#fenced === null) this.#arm(live);
    else this.#abandon(live, this.#fenced);
  }

  /**
   * Moves a call: checks the transitions, commits them by one compare-and-set, then updates `live`.
   * Returns false if another writer committed first: `live.call` is then that row, and nothing of this move was written.
   */
  advance(live: LiveCall, states: readonly CallState[], extra: MoveExtra = {}): MaybePromise<boolean> {
    return live.ownership === 'own'
      ? this.#commit(live, states, extra)
      : this.#commitShared(live, states, extra);
  }

  /** Moves of borrowed calls run one after the other, so that the node adopts or ends each call once. */
  #commitShared(live: LiveCall, states: readonly CallState[], extra: MoveExtra): MaybePromise<boolean> {
    if (live.ownership === 'lost') return false;
    if (live.ownership === 'adopted') return this.#commit(live, states, extra);
    const { id } = live.call;
    const turn = (this.#borrowing.get(id) ?? Promise.resolve()).then(() => this.#commit(live, states, extra));
    const over = turn.then(nothing, nothing).then(() => {
      if (this.#borrowing.get(id) === over) this.#borrowing.delete(id);
    });
    this.#borrowing.set(id, over);
    return turn;
  }

  #commit(live: LiveCall, states: readonly CallState[], extra: MoveExtra): MaybePromise<boolean> {
    const at = this.#parts.clock.now();
    const from = live.call;
    let next = changed(from, extra);
    const rows: LedgerDraft[] = [];
    for (const state of states) {
      next = move(next, state, at, extra.approval ?? next.approval);
      const entry = next.timeline.at(-1);
      if (entry !== undefined) rows.push(callRow(next, entry, this.#resultHash(state)));
    }
    if (extra.rows !== undefined) rows.push(...extra.rows(next));
    const to = isOpen(next) ? next : redactEnded(this.#parts.redactor, next);
    const argsChanged = to.argsJson !== from.argsJson;
    const replacing = this.#writes.replaceCall(to, from.version, rows, argsChanged, extra.keepsHolder);
    return andThen(replacing, (replaced) => {
      if (replaced.kind === 'conflict') return this.#overtaken(live, from.version, replaced);
      if (live.ownership === 'own') this.#apply(live, to);
      else this.#applyShared(live, to, extra.keepsHolder === true);
      return true;
    });
  }

  /** The move of a call that another node holds or has held. */
  #applyShared(live: LiveCall, to: Call, keepsHolder: boolean): void {
    if (live.ownership === 'lost') return;
    if (live.ownership === 'borrowed') {
      // Another borrowed object may have made the call this node's meanwhile.
      const own = this.#live.get(to.id);
      live.call = to;
      if (own !== undefined) this.#adoptCurrent(own, to.version, to);
      else if (!isOpen(to)) this.#parts.ended(to);
      else if (!keepsHolder) {
        live.ownership = 'adopted';
        this.#enter(live);
      }
    } else this.#apply(live, to);
    this.#parts.peers.moved(to);
  }

  /** Another writer committed first. Returns false. */
  #overtaken(
    live: LiveCall,
    expectedVersion: number,
    { current, elsewhere }: Extract<Replaced, { kind: 'conflict' }>,
  ): false {
    if (live.ownership === 'lost') return false;
    if (live.ownership === 'borrowed') live.call = current ?? live.call;
    else if (elsewhere === true) this.#disown(live, current);
    else this.#adoptCurrent(live, expectedVersion, current);
    return false;
  }

  /**
   * Another node manages the call now, or has ended it: stops the work, releases the slot and forgets the call. The end is
   * neither counted nor logged here.
   */
  #disown(live: LiveCall, current: Call | undefined): void {
    const { call } = live;
    if (current === undefined) return this.#drop(live);
    if (!isOurs(live) || current.version <= call.version || !this.#live.delete(call.id)) return;
    if (isOpen(call)) this.open.remove(call);
    live.call = current;
    live.ownership = 'lost';
    live.disarm();
    live.stop.fire('deadlineAt' in current.state ? MOVED : outcomeOf(current.state));
    // Null: a client that works on an open call goes on.
    this.#release(live, 'error' in current.state ? current.state.error.code : null);
    this.#parts.movedElsewhere(current);
  }

  /** Continuations of commits may run in any order: a row that is not newer than `live.call` changes nothing. */
  #apply(live: LiveCall, to: Call): void {
    const from = live.call;
    if (to.version <= from.version || !isOpen(from)) return;
    live.call = to;
    if (!isOpen(to)) {
      this.open.remove(from);
      live.disarm();
      this.#retire(live);
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
  #adoptCurrent(live: LiveCall, expectedVersion: number, current: Call | undefined): void {
    if (current === undefined || current.version < expectedVersion) {
      this.#drop(live);
      return;
    }
    if (!isOpen(live.call)) return;
    this.#apply(live, current);
    const { state } = live.call;
    if (!('deadlineAt' in state)) live.stop.fire(outcomeOf(state));
  }

  /** Forgets the call in this process, stops its work and releases its slot. Changes no state. */
  #drop(live: LiveCall): void {
    const { call } = live;
    if (!this.#live.delete(call.id)) return;
    this.#parts.log.warn('call.dropped', { tool_call_id: call.id, version: call.version });
    if (isOpen(call)) this.open.remove(call);
    live.disarm();
    live.stop.fire({ kind: 'cancelled', failure: failure('cancelled', reason('call_not_stored')) });
    this.#release(live, 'cancelled');
    this.#parts.dropped(call);
  }

  /**
   * As `advance`, but retries failed writes until one succeeds: for the start and the end of work, which must not be lost.
   * After `close` it stops retrying: the call stays as stored, and the next start recovers it.
   */
  advanceWithRetry(live: LiveCall, states: readonly CallState[]): MaybePromise<boolean> {
    const retry = async (error: unknown): Promise<boolean> => {
      if (!isOpen(live.call)) return false;
      if (error instanceof IllegalMove) throw error;
      if (this.#isClosed) return false;
      this.#parts.log.error('store.write_failed', { tool_call_id: live.call.id, error: messageOf(error) });
      await new Promise<void>((resolve) => this.#parts.clock.after(PERSIST_RETRY_MS, resolve));
      return await this.advanceWithRetry(live, states);
    };
    try {
      const advanced = this.advance(live, states);
      return advanced instanceof Promise ? advanced.catch(retry) : advanced;
    } catch (error) {
      return retry(error);
    }
  }

  /** As `advanceWithRetry` with an end state, whatever moves that leave the call open are committed first. */
  endWithRetry(live: LiveCall, end: EndState): MaybePromise<boolean> {
    const { version } = live.call;
    return andThen(this.advanceWithRetry(live, [end]), (hasEnded) =>
      hasEnded || !isOpen(live.call) || live.call.version === version
        ? hasEnded
        : this.endWithRetry(live, end),
    );
  }

  /** Ends a call from outside its execution, then stops the work. Returns false if another move was committed first. */
  async end(live: LiveCall, outcome: BadOutcome): Promise<boolean> {
    if (!isOpen(live.call)) return false;
    if (!(await this.advance(live, [endState(outcome, null)]))) return false;
    live.stop.fire(outcome);
    return true;
  }

  /** As `end`, but repeats after a lost race while the call is open. Returns false if the call ended otherwise. */
  async endOpen(live: LiveCall, outcome: () => BadOutcome): Promise<boolean> {
    for (let lost = -1; isOpen(live.call) && live.call.version !== lost;) {
      lost = live.call.version;
      if (await this.end(live, outcome())) return true;
    }
    return false;
  }

  /** Returns false if the call ended otherwise first. */
  async cancel(live: LiveCall, by: string): Promise<boolean> {
    return await this.endOpen(live, () => {
      const outcome = this.outcomeKnowledge(live);
      return {
        kind: 'cancelled',
        failure: failure('cancelled', reason('call_cancelled_by', { by }), { outcome }),
      };
    });
  }

  /** Whether the call may have had an effect already. */
  outcomeKnowledge(live: LiveCall): OutcomeKnowledge {
    return live.pushed || attemptsOf(live.call) > 0 ? 'unknown' : 'not_started';
  }

  close(): void {
    this.#isClosed = true;
    this.wheel.clear();
  }

  /** No write of this process succeeds any more: stops all work and forgets all calls, which stay as they are stored. */
  fence(problem: string): void {
    this.close();
    const refuse = (): Promise<never> => Promise.reject(new StorageUnavailable(problem));
    this.#writes = { insertCall: refuse, replaceCall: refuse };
    const stopped = failure('storage_unavailable', foreignText(problem));
    this.#fenced = { kind: 'cancelled', failure: stopped };
    for (const live of this.#live.values()) this.#abandon(live, this.#fenced);
  }

  #abandon(live: LiveCall, outcome: BadOutcome): void {
    const { call } = live;
    this.#live.delete(call.id);
    live.ownership = 'lost';
    if (isOpen(call)) this.open.remove(call);
    live.disarm();
    live.stop.fire(outcome);
    // A client works on, and reports to the process that manages the call then.
    if (runsInProcess(call)) live.release();
    live.release = nothing;
  }

  /** Goes into the ledger, so that a change of the stored result is detected. */
  #resultHash(state: CallState): string | undefined {
    return state.name === 'COMPLETED' ? this.#parts.digest.sha256(state.resultJson) : undefined;
  }

  #arm(live: LiveCall): void {
    if (!isOpen(live.call)) return;
    const left = live.call.state.deadlineAt - this.#parts.clock.now();
    live.disarm = this.wheel.after(left, () => this.#expire(live));
  }

  #expire(live: LiveCall): void {
    if (!isOpen(live.call)) return;
    const outcome = expiry(live.call, this.outcomeKnowledge(live), isIdempotent(live));
    const { deadlineAt } = live.call.state;
    const rearm = (ms: number): void => {
      // A move to another deadline has armed that one already.
      if (
        isOpen(live.call) &&
        live.call.state.deadlineAt === deadlineAt &&
        this.#live.get(live.call.id) === live
      )
        live.disarm = this.wheel.after(ms, () => this.#expire(live));
    };
    this.end(live, outcome).then(
      (hasEnded) => {
        if (!hasEnded) rearm(0);
      },
      (error: unknown) => {
        this.#parts.log.error('store.write_failed', { tool_call_id: live.call.id, error: messageOf(error) });
        // The work stops at its deadline even if the store cannot record it yet.
        live.stop.fire(outcome);
        rearm(PERSIST_RETRY_MS);
      },
    );
  }

  #retire(live: LiveCall): void {
    const { call } = live;
    this.#live.delete(call.id);
    this.#release(live, 'error' in call.state ? call.state.error.code : null);
    this.#parts.ended(call);
  }

  #release(live: LiveCall, reason: string | null): void {
    live.disarm = nothing;
    live.release();
    live.release = nothing;
    this.#parts.cancelled(live, reason);
  }
}

/** Whether another node has only recorded a response to the held input request for which the attempt waits here. */
function isResponseTo({ state: before }: Call, { state: now }: Call): boolean {
  const isHeld = (state: CallState): boolean => state.name === 'INPUT_REQUIRED' && state.held;
  return (
    isHeld(before) && isHeld(now) && 'attempt' in now && 'attempt' in before && now.attempt === before.attempt
  );
}

function changed(call: Call, { argsJson, inputs, offered }: MoveExtra): Call {
  if (argsJson === undefined && inputs === undefined) return call;
  return {
    ...call,
    argsJson: argsJson ?? call.argsJson,
    inputs: inputs ?? call.inputs,
    ...(offered === undefined ? {} : { offered }),
  };
}
