import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isOpen, type Call } from '../../core/call/call.ts';
import type { CallFilter, OpenCallFilter, Page } from '../../core/ports.ts';
import { callPage } from '../call-pages.ts';
import { matchesOpen } from '../open-call-filter.ts';
import { callCursor } from '../cursors.ts';
import type { CallReader } from './call-reader.ts';
import { STATE_CODES, stateMask } from '../state-codes.ts';
import { integer, text } from './rows.ts';

/** Rows scanned before yielding to the event loop: some milliseconds. */
const WINDOW = 4_000;

/** Rows returned before yielding to the event loop. */
const TURN = 200;

/** A search by time is complete if the wall clock never stepped back by more than this. */
const CLOCK_STEP_MS = 3_600_000;

/**
 * The codes of the open states in the order in which calls pass them. A call may return from INPUT_REQUIRED to PENDING or
 * EXECUTING, so these come again.
 */
const OPEN_ORDER = (
  ['PENDING', 'APPROVAL_REQUIRED', 'APPROVED', 'EXECUTING', 'INPUT_REQUIRED', 'PENDING', 'EXECUTING'] as const
).map((name) => STATE_CODES[name]);

const AFTER_EVERY_ID = '\uffff';

const MATCHES = `
  tenant = :tenant
  and (:tool is null or tool_name = :tool)
  and (:agent is null or agent_id = :agent)
  and (:asker is null or agent_id = :asker or client_id = :runner)
  and (:since is null or created_at >= :since)
  and (:until is null or created_at < :until)
  and (:states is null or (:states >> state) & 1)`;

/** The indexed calls of a run. `cross join` makes SQLite read the index table first. */
const INDEXED = 'calls_of_runs as filed cross join calls on calls.no = filed.no';

/** The newest calls, which are not in the index table yet, by number. */
const UNINDEXED = 'calls not indexed';
const IS_UNINDEXED = 'no > (select no from calls_of_runs_end)';

/** The statements of a scan over calls, newest first. */
interface Walk {
  /** The matches within a window. */
  readonly matches: StatementSync;
  /** Selects the last row of the window; no row if the scan ends inside it. Null if one window always suffices. */
  readonly end: StatementSync | null;
}

/** The key of a found call. Calls may be large, so they are read only after the page is known. */
interface FoundCall {
  readonly no: number;
  readonly id: string;
}

type Parameters = Record<string, string | number | null>;

/** Scans many calls, one window at a time. */
export class CallScan {
  readonly #calls: CallReader;
  readonly #all: Walk;
  readonly #ofRun: Walk;
  readonly #ofRunUnindexed: Walk;
  readonly #ofState: Walk;
  readonly #openIds: StatementSync;
  readonly #ended: StatementSync;
  readonly #endedEnd: StatementSync;

  constructor(database: DatabaseSync, calls: CallReader) {
    this.#calls = calls;
    this.#all = prepareWalk(database, 'calls', 'true');
    this.#ofRun = prepareWalk(database, INDEXED, 'filed.run_id = :run and filed.tenant = :tenant');
    this.#ofRunUnindexed = prepareWalk(
      database,
      UNINDEXED,
      `run_id = :run and tenant = :tenant and ${IS_UNINDEXED}`,
    );
    this.#ofState = prepareWalk(database, 'calls', 'state = :state and state <> 4');
    this.#openIds = database.prepare(
      'select id from calls where state = ? and state <> 4 and id > ? order by id limit ?',
    );
    this.#ended = database.prepare(
      `select no from (select no, ended_at from calls where id > ? order by id limit ?) where ended_at < ? limit ?`,
    );
    this.#endedEnd = database.prepare(
      'select id, created_at from calls where id > ? order by id limit 1 offset ?',
    );
  }

  async list(filter: CallFilter, cursor: string | null, limit: number): Promise<Page<Call>> {
    const before = cursor === null ? AFTER_EVERY_ID : callCursor(cursor);
    const found = await this.#find(filter, before, limit + 1);
    return callPage(found, limit, ({ no }) => {
      const call = this.#calls.findByNo(no);
      // Its state may have changed since it was found.
      return call === undefined || filter.states?.includes(call.state.name) === false ? undefined : call;
    });
  }

  /** Yields open calls, oldest first. States are read in the order in which calls pass them, so that a call that changes its state meanwhile is not missed. */
  async *open(of?: OpenCallFilter): AsyncIterable<Call> {
    const ids = new Set<string>();
    for (const code of OPEN_ORDER) {
      for (let after: string | undefined = ''; after !== undefined;) {
        const rows: string[] = this.#openIds.all(code, after, WINDOW).map((row) => text(row, 'id'));
        for (const id of rows) ids.add(id);
        after = rows.length < WINDOW ? undefined : rows.at(-1);
        await nextTurn();
      }
    }
    let handedOut = 0;
    for (const id of [...ids].sort()) {
      const call = this.#calls.find(id);
      if (call !== undefined && isOpen(call) && matchesOpen(call, of)) yield call;
      handedOut += 1;
      if (handedOut % TURN === 0) await nextTurn();
    }
  }

  /** Returns the numbers of calls that ended before, oldest first. */
  async endedBefore(before: number, limit: number): Promise<readonly number[]> {
    const found: number[] = [];
    for (let after = ''; found.length < limit;) {
      const rows = this.#ended.all(after, WINDOW, before, limit - found.length);
      for (const row of rows) found.push(integer(row, 'no'));
      const end = this.#endedEnd.get(after, WINDOW - 1);
      // Later calls were created later, so none of them ended before.
      if (end === undefined || integer(end, 'created_at') >= before + CLOCK_STEP_MS) break;
      after = text(end, 'id');
      await nextTurn();
    }
    return found;
  }

  async #find(filter: CallFilter, before: string, wanted: number): Promise<readonly FoundCall[]> {
    const parameters = parametersOf(filter);
    const { runId, states } = filter;
    if (runId !== undefined) return await this.#findOfRun({ ...parameters, run: runId }, before, wanted);
    if (states === undefined || states.includes('COMPLETED')) {
      return await this.#walk(this.#all, parameters, before, wanted);
    }
    // In the order in which calls pass the states: a call that changes its state meanwhile is found twice, not missed.
    const codes = [...new Set(states)].map((state) => STATE_CODES[state]).sort((a, b) => a - b);
    const found = new Map<string, FoundCall>();
    for (const state of codes) {
      const ofState = { ...parameters, state };
      for (const call of await this.#walk(this.#ofState, ofState, before, wanted)) found.set(call.id, call);
    }
    return newestFirst([...found.values()]).slice(0, wanted);
  }

  /** Unindexed calls first: a call that is indexed between the two scans is then found twice, not missed. */
  async #findOfRun(parameters: Parameters, before: string, wanted: number): Promise<readonly FoundCall[]> {
    const found = new Map<string, FoundCall>();
    for (const walk of [this.#ofRunUnindexed, this.#ofRun]) {
      for (const call of await this.#walk(walk, parameters, before, wanted)) found.set(call.id, call);
    }
    return newestFirst([...found.values()]).slice(0, wanted);
  }

  async #walk(walk: Walk, parameters: Parameters, start: string, wanted: number): Promise<FoundCall[]> {
    const found: FoundCall[] = [];
    const since = parameters['since'] ?? null;
    for (let before = start; found.length < wanted;) {
      const limit = Math.min(wanted - found.length, TURN);
      const rows = walk.matches.all({ ...parameters, before, window: WINDOW, limit });
      for (const row of rows) found.push({ no: integer(row, 'no'), id: text(row, 'id') });
      const last = rows.at(-1);
      if (last !== undefined && rows.length === limit) {
        before = text(last, 'id');
      } else {
        const end = walk.end?.get({ ...parameters, before, skip: WINDOW - 1 });
        if (end === undefined) break;
        if (typeof since === 'number' && integer(end, 'created_at') < since - CLOCK_STEP_MS) break;
        before = text(end, 'id');
      }
      if (found.length < wanted) await nextTurn();
    }
    return found;
  }
}

function prepareWalk(database: DatabaseSync, source: string, range: string): Walk {
  const id = source === INDEXED ? 'filed.id' : 'calls.id';
  const inOrder = `from ${source} where ${range} and ${id} < :before order by ${id} desc`;
  // The inner query selects no large column, so that rows without a match are not read completely.
  const matches = database.prepare(`
    select no, id from (
      select calls.no, calls.id, calls.tenant, tool_name, agent_id, client_id, created_at, state ${inOrder} limit :window
    ) where ${MATCHES} limit :limit`);
  const end =
    source === UNINDEXED
      ? null
      : database.prepare(`select calls.id, created_at ${inOrder} limit 1 offset :skip`);
  matches.setAllowUnknownNamedParameters(true);
  end?.setAllowUnknownNamedParameters(true);
  return { matches, end };
}

function parametersOf(filter: CallFilter): Parameters {
  return {
    tenant: filter.tenant,
    tool: filter.toolName ?? null,
    agent: filter.agentId ?? null,
    asker: filter.askedOrRunBy?.agentId ?? null,
    runner: filter.askedOrRunBy?.clientId ?? null,
    since: filter.since ?? null,
    until: filter.until ?? null,
    states: filter.states === undefined ? null : stateMask(filter.states),
  };
}

function newestFirst(calls: FoundCall[]): FoundCall[] {
  return calls.sort((a, b) => (a.id < b.id ? 1 : -1));
}
