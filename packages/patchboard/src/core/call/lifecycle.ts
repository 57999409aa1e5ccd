import { type OutcomeKnowledge, reason } from '@patchboard/wire';
import { attemptsOf, IllegalMove, isOpen, move, type Approval, type Call, type CallState } from './call.ts';
import { endState, expiry, outcomeOf } from './end-state.ts';
import { failure, messageOf } from '../failures.ts';
import { callRow, type LedgerDraft } from '../ledger/ledger.ts';
import { isIdempotent, liveCall, nothing, type InProcessCaller, type LiveCall } from './live-call.ts';
import { OpenCalls } from './open-calls.ts';
import type { BadOutcome } from './outcome.ts';
import type { Clock, Digest, Inserted, Log, NewCall, Store } from '../ports.ts';
import { redactEnded, type Redactor } from './redaction.ts';
import { andThen, type MaybePromise } from '../maybe-promise.ts';
import type { RegisteredTool } from '../tools/registered-tool.ts';
import { TimerWheel } from '../timer-wheel.ts';

export interface LifecycleParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly digest: Digest;
  readonly redactor: Redactor;
  /** Called before `ended` and `dropped`: the provider works on the call no more. `reason`: as `Provider.cancel`. */
  readonly cancelled: (live: LiveCall, reason: string | null) => void;
  /** Called with every ended call, once, after its end is durable. */
  readonly ended: (call: Call) => void;
  /** Called with a call that is stored no more: this process forgets it. */
  readonly dropped: (call: Call) => void;
}

/** What goes along with a move. */
export interface MoveExtra {
  readonly approval?: Approval;
  /** An operator's edit. */
  readonly argsJson?: string;
  /** Ledger rows besides those of the moves. */
  readonly rows?: (call: Call) => readonly LedgerDraft[];
}

export interface Recorded {
  readonly inserted: Inserted;
  /** Null: nothing was recorded, or it was born ended. */
  readonly live: LiveCall | null;
}

const PERSIST_RETRY_MS = 500;

/**
 * Owns the calls that have not ended: every move of every call is made and committed here,
 * and the clock ends what nobody else does.
 */
export class Lifecycle {
  readonly wheel: TimerWheel;
  readonly #parts: LifecycleParts;
  readonly #live: Map<string, LiveCall> = new Map();
  #isClosed = false;
  readonly open: OpenCalls = new OpenCalls();

  constructor(parts: LifecycleParts) {
    this.#parts = parts;
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

  /** Records a new call. It is live from the commit on, unless it was born ended. */
  record(record: NewCall, caller: InProcessCaller, tool: RegisteredTool | undefined): MaybePromise<Recorded> {
    const { call } = record;
    const kept = isOpen(call) ? record : { ...record, call: redactEnded(this.#parts.redactor, call) };
    return andThen(this.#parts.store.insertCall(kept), (inserted) => {
      if (inserted.kind === 'inserted' && isOpen(call))
        return { inserted, live: this.adopt(call, caller, tool) };
      if (inserted.kind === 'inserted') this.#parts.ended(call);
      return { inserted, live: null };
    });
  }

  /** Takes charge of an open call that is already stored. `tool`: the one it was made with, if it is known. */
  adopt(call: Call, caller: InProcessCaller, tool: RegisteredTool | undefined): LiveCall {
    const live = liveCall(call, caller, tool);
    this.#live.set(call.id, live);
    if (isOpen(call)) this.open.add(call);
    this.#arm(live);
    return live;
  }

  /**
   * The only way on: through the gate, into the store, then here. Several moves may share one commit.
   * False: another move of this call was committed first; `live.call` is that row, and nothing of this move was written.
   */
  advance(live: LiveCall, states: readonly CallState[], extra: MoveExtra = {}): MaybePromise<boolean> {
    const at = this.#parts.clock.now();
    const from = live.call;
    let next = extra.argsJson === undefined ? from : { ...from, argsJson: extra.argsJson };
    const rows: LedgerDraft[] = [];
    for (const state of states) {
      next = move(next, state, at, extra.approval ?? next.approval);
      const entry = next.timeline.at(-1);
      if (entry !== undefined) rows.push(callRow(next, entry, this.#resultHash(state)));
    }
    if (extra.rows !== undefined) rows.push(...extra.rows(next));
    const to = isOpen(next) ? next : redactEnded(this.#parts.redactor, next);
    const argsChanged = to.argsJson !== from.argsJson;
    return andThen(this.#parts.store.replaceCall(to, from.version, rows, argsChanged), (replaced) => {
      if (replaced.kind === 'replaced') this.#apply(live, to);
      else this.#adoptCurrent(live, from.version, replaced.current);
      return replaced.kind === 'replaced';
    });
  }

  /** Continuations of commits may run in any order: a row older than the one that was applied changes nothing. */
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
    // A deadline that stands stays armed: armed anew it would follow a jump of the wall clock.
    if (from.state.deadlineAt === to.state.deadlineAt) return;
    live.disarm();
    this.#arm(live);
  }

  /**
   * Another writer committed first, maybe in another process. Its row is the call from now on. A row that is gone, or
   * older than the one this process read, is not this process's call any more.
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

  /** Ends nothing: only this process forgets the call, stops its work and gives back what it holds. */
  #drop(live: LiveCall): void {
    const { call } = live;
    if (!this.#live.delete(call.id)) return;
    this.#parts.log.warn('call.dropped', { tool_call_id: call.id, version: call.version });
    if (isOpen(call)) this.open.remove(call);
    live.disarm();
    live.stop.fire({ kind: 'cancelled', failure: failure('cancelled', 'the call is not stored any more') });
    this.#letGo(live, 'cancelled');
    this.#parts.dropped(call);
  }

  /**
   * For what must not be lost, the beginning of work and its end: a store that has no room now is asked again until it
   * has. After `close` it is asked no more: the call stays as stored, and the next start takes it up.
   */
  advanceSurely(live: LiveCall, states: readonly CallState[]): MaybePromise<boolean> {
    const again = async (error: unknown): Promise<boolean> => {
      if (!isOpen(live.call)) return false;
      if (error instanceof IllegalMove) throw error;
      if (this.#isClosed) return false;
      this.#parts.log.error('store.write_failed', { tool_call_id: live.call.id, error: messageOf(error) });
      await new Promise<void>((resolve) => this.#parts.clock.after(PERSIST_RETRY_MS, resolve));
      return await this.advanceSurely(live, states);
    };
    try {
      const advanced = this.advance(live, states);
      return advanced instanceof Promise ? advanced.catch(again) : advanced;
    } catch (error) {
      return again(error);
    }
  }

  /** Ends a call from outside its execution, then stops the work. False: another move was committed first. */
  async end(live: LiveCall, outcome: BadOutcome): Promise<boolean> {
    if (!isOpen(live.call)) return false;
    if (!(await this.advance(live, [endState(outcome, null)]))) return false;
    live.stop.fire(outcome);
    return true;
  }

  /** As `end`, whatever moves that leave the call open come first. False: it ended otherwise. */
  async endOpen(live: LiveCall, outcome: () => BadOutcome): Promise<boolean> {
    for (let lost = -1; isOpen(live.call) && live.call.version !== lost;) {
      lost = live.call.version;
      if (await this.end(live, outcome())) return true;
    }
    return false;
  }

  /** False: it ended otherwise first. */
  async cancel(live: LiveCall, by: string): Promise<boolean> {
    return await this.endOpen(live, () => {
      const outcome = this.outcomeKnowledge(live);
      return {
        kind: 'cancelled',
        failure: failure('cancelled', reason('call_cancelled_by', { by }), { outcome }),
      };
    });
  }

  /** Whether anything may have happened already. */
  outcomeKnowledge(live: LiveCall): OutcomeKnowledge {
    return live.pushed || attemptsOf(live.call) > 0 ? 'unknown' : 'not_started';
  }

  close(): void {
    this.#isClosed = true;
    this.wheel.clear();
  }

  /** Goes into the ledger, so that a stored result cannot be changed without showing it. */
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
    const again = (ms: number): void => {
      // A move to another deadline has armed that one.
      if (isOpen(live.call) && live.call.state.deadlineAt === deadlineAt && this.#live.has(live.call.id))
        live.disarm = this.wheel.after(ms, () => this.#expire(live));
    };
    this.end(live, outcome).then(
      (hasEnded) => {
        if (!hasEnded) again(0);
      },
      (error: unknown) => {
        this.#parts.log.error('store.write_failed', { tool_call_id: live.call.id, error: messageOf(error) });
        // The work stops in time, also while there is no room to say so.
        live.stop.fire(outcome);
        again(PERSIST_RETRY_MS);
      },
    );
  }

  #retire(live: LiveCall): void {
    const { call } = live;
    this.#live.delete(call.id);
    this.#letGo(live, 'error' in call.state ? call.state.error.code : null);
    this.#parts.ended(call);
  }

  #letGo(live: LiveCall, reason: string | null): void {
    live.disarm = nothing;
    live.release();
    live.release = nothing;
    this.#parts.cancelled(live, reason);
  }
}
