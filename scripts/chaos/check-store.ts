import { isTerminal } from '@patchboard/wire';
import type { Call } from '../../packages/patchboard/src/core/call/call.ts';
import { verifyLedger } from '../../packages/patchboard/src/core/ledger/ledger-check.ts';
import type { LedgerRow } from '../../packages/patchboard/src/core/ledger/ledger.ts';
import type { Store } from '../../packages/patchboard/src/core/ports.ts';
import { nodeDigest } from '../../packages/patchboard/src/runtime/digest.ts';
import type { Effect } from './effects.ts';
import type { History, Invocation } from './history.ts';
import { TOOLS } from './pack.ts';

export interface StoreSummary {
  readonly calls: number;
  readonly byState: Readonly<Record<string, number>>;
  readonly ledgerRows: number;
  readonly effects: number;
  /** Calls that ended with a result after their caller gave input. */
  readonly completedWithInput: number;
  readonly timeoutsAfterRestart: number;
  /** The longest uptime between a deadline and the timeout it caused. */
  readonly worstLatenessMs: number;
}

/** G7 guarantees one second; the rest is tolerance for a busy machine. */
const LATENESS_MS = 5000;
/** Tools that record their executions. */
const LEAVE_TRACES = [TOOLS.effect, TOOLS.slow, TOOLS.approve, TOOLS.ask, TOOLS.askReturned] as const;
/** Deadlines use monotonic time, records wall-clock time: they may differ by a tick. */
const TICK_MS = 60;

export interface ExtraChecks {
  /** How late a timeout may be. */
  readonly latenessMs?: number;
  /**
   * When calls were stored, epoch milliseconds, where that is known: if the first commit of a call is interrupted and repeated,
   * its deadline may pass before the call exists.
   */
  readonly storedAt?: ReadonlyMap<string, number>;
  readonly also?: (calls: ReadonlyMap<string, Call>, rows: readonly LedgerRow[]) => void;
}

/** Compares the store with all observed responses and effects; adds violations to the history. */
export async function checkStore(
  open: () => Promise<Store>,
  effects: readonly Effect[],
  history: History,
  extra: ExtraChecks = {},
): Promise<StoreSummary> {
  const store = await open();
  try {
    return await check(store, effects, history, extra);
  } finally {
    await store.close();
  }
}

async function check(
  store: Store,
  effects: readonly Effect[],
  history: History,
  { latenessMs = LATENESS_MS, storedAt = new Map(), also }: ExtraChecks,
): Promise<StoreSummary> {
  const calls = await allCalls(store);
  const rows = await allRows(store);
  checkAcknowledged(calls, history);
  checkNumbers(calls, history);
  checkEndings(calls, history);
  checkSubmissions(calls, history);
  checkInputs(calls, history);
  checkDecisions(calls, effects, history);
  checkEffects(calls, effects, history);
  checkLedger(calls, rows, history);
  also?.(calls, rows);
  const verdict = await verifyLedger(store, nodeDigest);
  if (!verdict.ok) history.violations.push(`ledger row ${verdict.seq}: ${verdict.problem}`);
  else if (verdict.rows !== rows.length)
    history.violations.push(`the ledger has ${verdict.rows} rows, and ${rows.length} were read`);
  return {
    calls: calls.size,
    byState: countBy([...calls.values()], (call) => call.state.name),
    ledgerRows: rows.length,
    effects: effects.length,
    completedWithInput: [...calls.values()].filter(
      ({ state, inputs }) => state.name === 'COMPLETED' && inputs.length > 0,
    ).length,
    ...checkTimeouts(calls, history, latenessMs, storedAt),
  };
}

async function allCalls(store: Store): Promise<Map<string, Call>> {
  const calls = new Map<string, Call>();
  let cursor: string | null = null;
  do {
    const page: Awaited<ReturnType<Store['listCalls']>> = await store.listCalls(
      { tenant: 'default' },
      cursor,
      200,
    );
    for (const call of page.items) calls.set(call.id, call);
    cursor = page.nextCursor;
  } while (cursor !== null);
  return calls;
}

async function allRows(store: Store): Promise<LedgerRow[]> {
  const rows: LedgerRow[] = [];
  for (;;) {
    const some = await store.readLedger({}, rows.at(-1)?.seq ?? 0, 1000);
    if (some.length === 0) return rows;
    rows.push(...some.map(({ row }) => row));
  }
}

/** G1: every call acknowledged with 2xx is stored. */
function checkAcknowledged(calls: ReadonlyMap<string, Call>, history: History): void {
  for (const id of history.acknowledged()) {
    if (!calls.has(id)) history.violations.push(`${id} was acknowledged and is lost`);
  }
}

/**
 * G2: one request is one call, sent once or with the same key many times; none if every response said that nothing was
 * recorded.
 */
function checkNumbers(calls: ReadonlyMap<string, Call>, history: History): void {
  const byNumber = new Map<number, string[]>();
  for (const call of calls.values()) {
    const { n } = JSON.parse(call.argsJson) as { n: number };
    byNumber.set(n, [...(byNumber.get(n) ?? []), call.id]);
  }
  for (const [n, ids] of byNumber) {
    const invocation: Invocation | undefined = history.invocations.get(n);
    if (invocation === undefined) history.violations.push(`${ids.join()} was never asked for`);
    if (ids.length > 1) history.violations.push(`request ${n} became ${ids.length} calls: ${ids.join()}`);
  }
  for (const { n, acknowledged, sent, refused } of history.invocations.values()) {
    if (sent > 0 && sent === refused && byNumber.has(n))
      history.violations.push(
        `request ${n} was refused as not recorded, and became ${byNumber.get(n)?.join()}`,
      );
    if (acknowledged.size > 1)
      history.violations.push(`request ${n} got receipts for ${[...acknowledged].join()}`);
  }
}

/** G3: exactly one final state, as the last row, equal to the observed one. */
function checkEndings(calls: ReadonlyMap<string, Call>, history: History): void {
  for (const call of calls.values()) {
    const endings = call.timeline.filter((entry) => isTerminal(entry.state));
    const last = call.timeline.at(-1);
    if (endings.length !== 1 || last?.state !== call.state.name || !isTerminal(last.state))
      history.violations.push(
        `${call.id} has no single ending: ${call.timeline.map((entry) => entry.state).join()}`,
      );
    const seen = history.endings.get(call.id);
    if (seen !== undefined && !seen.startsWith(`["${call.state.name}"`))
      history.violations.push(`${call.id} was seen as ${seen} and is stored as ${call.state.name}`);
    if (call.state.name === 'SEALED' && call.state.error.outcome !== 'unknown')
      history.violations.push(`${call.id} was interrupted and does not say that its outcome is unknown`);
  }
}

/** G4: at most one result was accepted, and it is the stored one. */
function checkSubmissions(calls: ReadonlyMap<string, Call>, history: History): void {
  for (const [id, { accepted }] of history.submissions) {
    if (accepted.size > 1)
      history.violations.push(`${id} accepted ${accepted.size} results: ${[...accepted].join()}`);
    const [result] = accepted;
    const call = calls.get(id);
    if (result === undefined) continue;
    if (call?.state.name !== 'COMPLETED' || call.state.resultJson !== result)
      history.violations.push(`${id} accepted ${result} and keeps ${JSON.stringify(call?.state)}`);
  }
}

/** G23: an input request takes one response, and the tool got the one that is stored. */
function checkInputs(calls: ReadonlyMap<string, Call>, history: History): void {
  for (const [key, taken] of history.inputs) {
    const [callId = '', requestId] = key.split(' ');
    if (taken.size > 1) history.violations.push(`${key} took ${taken.size} responses: ${[...taken].join()}`);
    const [content] = taken;
    const round = calls.get(callId)?.inputs.find(({ id }) => id === requestId);
    if (round?.response?.contentJson !== JSON.stringify(content))
      history.violations.push(`${key} took ${content} and keeps ${JSON.stringify(round?.response)}`);
  }
  for (const { id, toolName, state, inputs } of calls.values()) {
    if (state.name !== 'COMPLETED' || (toolName !== TOOLS.ask && toolName !== TOOLS.askReturned)) continue;
    const { given } = JSON.parse(state.resultJson) as { given: unknown };
    if (inputs.at(-1)?.response?.contentJson !== JSON.stringify(given))
      history.violations.push(`${id} ran with ${JSON.stringify(given)}, which its caller did not give`);
  }
}

/** An approval is decided once, by the decision that got 200, and runs with the arguments that were shown. */
function checkDecisions(
  calls: ReadonlyMap<string, Call>,
  effects: readonly Effect[],
  history: History,
): void {
  for (const [id, decisions] of history.decisions) {
    const [decision] = decisions;
    if (decisions.size > 1) history.violations.push(`${id} took the decisions ${[...decisions].join()}`);
    const stored = calls.get(id)?.approval?.decision;
    if (stored !== decision) history.violations.push(`${id} took ${decision} and keeps ${stored}`);
  }
  for (const { tool, callId, args } of effects) {
    if (tool !== TOOLS.approve) continue;
    const call = calls.get(callId);
    if (call?.approval?.decision !== 'allow')
      history.violations.push(`${callId} was executed with the decision ${call?.approval?.decision}`);
    if (JSON.stringify(args) !== call?.argsJson)
      history.violations.push(`${callId} ran with ${JSON.stringify(args)} instead of ${call?.argsJson}`);
  }
}

/** G5: at most once unless idempotent, never more than once per attempt, and nothing without a record. */
function checkEffects(calls: ReadonlyMap<string, Call>, effects: readonly Effect[], history: History): void {
  const byCall = new Map<string, Effect[]>();
  for (const effect of effects) byCall.set(effect.callId, [...(byCall.get(effect.callId) ?? []), effect]);
  for (const [id, traces] of byCall) {
    const call = calls.get(id);
    if (call === undefined) history.violations.push(`${id} was executed and is not recorded`);
    if (call !== undefined && call.toolName !== TOOLS.slow && traces.length > 1)
      history.violations.push(`${id} is not idempotent and was executed ${traces.length} times`);
    if (new Set(traces.map((trace) => trace.attempt)).size !== traces.length)
      history.violations.push(`one attempt of ${id} was executed twice`);
    if (call !== undefined && 'error' in call.state && call.state.error.outcome === 'not_started')
      history.violations.push(`${id} is recorded as not started, but it was executed`);
  }
  for (const { id, toolName, state } of calls.values()) {
    const leavesTrace = LEAVE_TRACES.some((name) => name === toolName);
    if (leavesTrace && state.name === 'COMPLETED' && !byCall.has(id))
      history.violations.push(`${id} has a result and was never executed`);
  }
}

/** G20: one row for each state change, in order. */
function checkLedger(calls: ReadonlyMap<string, Call>, rows: readonly LedgerRow[], history: History): void {
  const moves = new Map<string, string[]>();
  for (const [index, row] of rows.entries()) {
    if (row.seq !== index + 1) history.violations.push(`ledger row ${index + 1} has number ${row.seq}`);
    if (row.kind !== 'call.state' || row.callId === null) continue;
    const { state, attempt = 0 } = JSON.parse(row.body) as { state: string; attempt?: number };
    moves.set(row.callId, [...(moves.get(row.callId) ?? []), `${state}:${attempt}:${row.at}`]);
  }
  for (const [id, call] of calls) {
    const wanted = call.timeline.map(({ state, attempt = 0, at }) => `${state}:${attempt}:${at}`).join();
    const found = moves.get(id)?.join() ?? '';
    if (wanted !== found) history.violations.push(`${id} went through ${wanted}; the ledger says ${found}`);
    moves.delete(id);
  }
  for (const id of moves.keys()) history.violations.push(`the ledger knows ${id}, which is not stored`);
}

/** G7: calls of clients end at their stored deadline, or as soon as a server is up again. */
function checkTimeouts(
  calls: ReadonlyMap<string, Call>,
  history: History,
  latenessMs: number,
  storedAt: ReadonlyMap<string, number>,
): Pick<StoreSummary, 'timeoutsAfterRestart' | 'worstLatenessMs'> {
  let timeoutsAfterRestart = 0;
  let worstLatenessMs = 0;
  for (const call of calls.values()) {
    if (call.state.name !== 'TIMED_OUT' || call.clientId === null) continue;
    const deadline = call.createdAt + call.timeoutMs;
    const endedAt = call.timeline.at(-1)?.at ?? 0;
    const lateness = history.upMs(Math.max(deadline, storedAt.get(call.id) ?? 0), endedAt);
    worstLatenessMs = Math.max(worstLatenessMs, lateness);
    if (lateness > latenessMs) history.violations.push(`${call.id} timed out ${lateness} ms late`);
    if (endedAt < deadline - TICK_MS)
      history.violations.push(`${call.id} timed out ${deadline - endedAt} ms before its deadline`);
    // Overdue calls time out before the new server is ready, so only the uptime of the old server counts.
    const born = history.lives.find((life) => life.from <= call.createdAt && call.createdAt <= life.until);
    if (born !== undefined && born.until < endedAt) timeoutsAfterRestart += 1;
  }
  return { timeoutsAfterRestart, worstLatenessMs };
}

function countBy<T>(values: readonly T[], key: (value: T) => string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const value of values) counts[key(value)] = (counts[key(value)] ?? 0) + 1;
  return counts;
}
