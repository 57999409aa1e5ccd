import { type OutcomeKnowledge, reason } from '@patchboard/wire';
import { failure, messageOf } from '../failures.ts';
import { callRow, type LedgerDraft } from '../ledger/ledger.ts';
import { andThen, type MaybePromise } from '../maybe-promise.ts';
import type { Inserted, NewCall } from '../ports.ts';
import type { TimerWheel } from '../timer-wheel.ts';
import type { RegisteredTool } from '../tools/registered-tool.ts';
import { attemptsOf, IllegalMove, isOpen, move, type Call, type CallState, type EndState } from './call.ts';
import { endState, expiry } from './end-state.ts';
import { fencedOutcome, fencedWrites, type CallWrites } from './fence.ts';
import type { LifecycleParts, MoveExtra } from './lifecycle-parts.ts';
import { isIdempotent, liveCall, type InProcessCaller, type LiveCall, type Ownership } from './live-call.ts';
import { LiveCalls } from './live-calls.ts';
import type { OpenCalls } from './open-calls.ts';
import type { BadOutcome } from './outcome.ts';
import { redactEnded } from './redaction.ts';
import { MOVED, SharedCalls } from './shared-calls.ts';

export interface Recorded {
  readonly inserted: Inserted;
  /** Null if nothing was recorded, the call was recorded in an end state, or other nodes have moved it since. */
  readonly live: LiveCall | null;
}

const PERSIST_RETRY_MS = 500;

/** Commits every state change of every call, and ends a call when its deadline passes. */
export class Lifecycle {
  readonly wheel: TimerWheel;
  readonly open: OpenCalls;
  readonly #parts: LifecycleParts;
  readonly #calls: LiveCalls;
  readonly #shared: SharedCalls;
  #writes: CallWrites;
  #isClosed = false;

  constructor(parts: LifecycleParts) {
    this.#parts = parts;
    this.#writes = parts.store;
    this.#calls = new LiveCalls(parts, (live) => this.#expire(live));
    this.#shared = new SharedCalls(parts, this.#calls, (live, states, extra) =>
      this.#commit(live, states, extra),
    );
    this.wheel = this.#calls.wheel;
    this.open = this.#calls.open;
  }

  /** True: this process stops or is fenced, and no timer of it may run. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  find(id: string): LiveCall | undefined {
    return this.#calls.find(id);
  }

  all(): LiveCall[] {
    return this.#calls.all();
  }

  /**
   * Returns the live call, or borrows a call that another node holds, to make one move. `call`: the row that was read.
   * Undefined: the call has ended.
   */
  reach(call: Call): LiveCall | undefined {
    return this.#shared.reach(call);
  }

  /** Another node has moved the call to `version`: compares the live call with the store. */
  refresh(id: string, version: number): Promise<void> {
    return this.#shared.refresh(id, version);
  }

  /** Forgets the live call if it is older than this row: another node has had the call meanwhile. */
  async forgetOlder(call: Call): Promise<void> {
    await this.#shared.forgetOlder(call);
  }

  /** Records a new call. It is live from the commit on, unless it is recorded in an end state. */
  record(record: NewCall, caller: InProcessCaller, tool: RegisteredTool | undefined): MaybePromise<Recorded> {
    const { call } = record;
    const kept = isOpen(call) ? record : { ...record, call: redactEnded(this.#parts.redactor, call) };
    return andThen(this.#writes.insertCall(kept), (inserted) => {
      if (inserted.kind === 'inserted' && isOpen(call))
        return { inserted, live: this.#isTakenBack(call) ? null : this.adopt(call, caller, tool) };
      if (inserted.kind === 'inserted') this.#parts.ended(call);
      return { inserted, live: null };
    });
  }

  /**
   * Whether another node took the new call before the result of its first commit arrived here, and this node has taken it
   * back: it is live already, in a newer version.
   */
  #isTakenBack({ id }: Call): boolean {
    return !this.#parts.peers.isSingle && this.#calls.find(id) !== undefined;
  }

  /** Starts to manage an open call that is already stored. `tool`: the tool it was submitted with, if it is known. */
  adopt(
    call: Call,
    caller: InProcessCaller,
    tool: RegisteredTool | undefined,
    ownership: Ownership = 'own',
  ): LiveCall {
    const live = liveCall(call, caller, tool, ownership);
    this.#calls.enter(live);
    return live;
  }

  /**
   * Moves a call: checks the transitions, commits them by one compare-and-set, then updates `live`.
   * Returns false if another writer committed first: `live.call` is then that row, and nothing of this move was written.
   */
  advance(live: LiveCall, states: readonly CallState[], extra: MoveExtra = {}): MaybePromise<boolean> {
    return live.ownership === 'own'
      ? this.#commit(live, states, extra)
      : this.#shared.commit(live, states, extra);
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
    const moving = andThen(replacing, (replaced) => {
      if (replaced.kind === 'conflict') return this.#shared.overtaken(live, from.version, replaced);
      if (live.ownership === 'own') this.#calls.apply(live, to);
      else this.#shared.apply(live, to, extra.keepsHolder === true);
      return true;
    });
    return this.#parts.peers.isSingle ? moving : this.#shared.follow(moving, from, to, live);
  }

  /**
   * Makes an open call one of this node, as it is. Of several nodes that do it at once, one succeeds. Returns false if
   * another writer committed first.
   */
  async claim(live: LiveCall): Promise<boolean> {
    return isOpen(live.call) && (await this.advance(live, [], { claims: true }));
  }

  /**
   * Passes a call of this node to another one, which starts it. Returns false, without a change, if that node is gone or
   * the call was moved.
   */
  give(live: LiveCall, node: number): Promise<boolean> {
    return this.#shared.give(live, node);
  }

  /**
   * As `advance`, but retries failed writes until one succeeds: for the start and the end of work, which must not be lost.
   * After `close` it stops retrying: the call stays as stored, and the next start recovers it.
   */
  advanceWithRetry(
    live: LiveCall,
    states: readonly CallState[],
    extra: MoveExtra = {},
  ): MaybePromise<boolean> {
    const retry = async (error: unknown): Promise<boolean> => {
      if (!isOpen(live.call)) return false;
      if (error instanceof IllegalMove) throw error;
      if (this.#isClosed) return false;
      this.#parts.log.error('store.write_failed', { tool_call_id: live.call.id, error: messageOf(error) });
      await new Promise<void>((resolve) => this.#parts.clock.after(PERSIST_RETRY_MS, resolve));
      return await this.advanceWithRetry(live, states, extra);
    };
    try {
      const advanced = this.advance(live, states, extra);
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
    live.ending += 1;
    try {
      if (!(await this.advance(live, [endState(outcome, null)]))) return false;
    } finally {
      live.ending -= 1;
    }
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

  /** As `cancel`, for a call that was read from the store, whichever node holds it. */
  async cancelStored(stored: Call, by: string): Promise<boolean> {
    for (let call = stored; ;) {
      const live = this.reach(call);
      if (live === undefined) return false;
      if (await this.cancel(live, by)) return true;
      if (live.ownership !== 'lost') return false;
      ({ call } = live);
    }
  }

  /** Whether the call may have had an effect already. */
  outcomeKnowledge(live: LiveCall): OutcomeKnowledge {
    return live.pushed || attemptsOf(live.call) > 0 ? 'unknown' : 'not_started';
  }

  close(): void {
    this.#isClosed = true;
    this.wheel.clear();
  }

  /** This node stops: forgets all calls, which other nodes take over as they are stored. */
  leave(): void {
    this.close();
    this.#calls.fence(MOVED);
  }

  /** No write of this process succeeds any more: stops all work and forgets all calls, which stay as they are stored. */
  fence(problem: string): void {
    this.close();
    this.#writes = fencedWrites(problem);
    this.#calls.fence(fencedOutcome(problem));
  }

  /** Goes into the ledger, so that a change of the stored result is detected. */
  #resultHash(state: CallState): string | undefined {
    return state.name === 'COMPLETED' ? this.#parts.digest.sha256(state.resultJson) : undefined;
  }

  #expire(live: LiveCall): void {
    if (!isOpen(live.call)) return;
    const outcome = expiry(live.call, this.outcomeKnowledge(live), isIdempotent(live));
    const { deadlineAt } = live.call.state;
    this.end(live, outcome).then(
      (hasEnded) => {
        if (!hasEnded) this.#calls.rearm(live, deadlineAt, 0);
      },
      (error: unknown) => {
        this.#parts.log.error('store.write_failed', { tool_call_id: live.call.id, error: messageOf(error) });
        // The work stops at its deadline even if the store cannot record it yet.
        live.stop.fire(outcome);
        this.#calls.rearm(live, deadlineAt, PERSIST_RETRY_MS);
      },
    );
  }
}

function changed(call: Call, { argsJson, inputs, offered, workspace, claims }: MoveExtra): Call {
  if (claims === true) return { ...call, version: call.version + 1 };
  if (argsJson === undefined && inputs === undefined && workspace === undefined) return call;
  return {
    ...call,
    argsJson: argsJson ?? call.argsJson,
    inputs: inputs ?? call.inputs,
    ...(offered === undefined ? {} : { offered }),
    ...(workspace === undefined ? {} : { workspace }),
  };
}
