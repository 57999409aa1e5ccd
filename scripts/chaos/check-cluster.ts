import { isTerminal } from '@patchboard/wire';
import type { Call } from '../../packages/patchboard/src/core/call/call.ts';
import type { FailedRequest } from './cluster-api.ts';
import { stamp } from './cluster-api.ts';
import type { ClusterHealth } from './cluster-health.ts';
import type { Effect } from './effects.ts';
import type { History } from './history.ts';
import { TOOLS } from './pack.ts';

/** A process that was killed, or stood still or was cut off from the database for longer than the lease. */
export interface Death {
  readonly pid: number;
  /** Epoch milliseconds. */
  readonly at: number;
  /** When the process ran on, or reached the database again; Infinity: never. */
  until: number;
  readonly cause: string;
}

/** The process of a node took over the calls of another process. */
export interface Takeover {
  readonly node: number;
  readonly pid: number;
  readonly of: number;
  /** When it was logged, epoch milliseconds. */
  readonly at: number;
}

interface ClusterBounds {
  /**
   * From the death of a node until its calls are sealed or run again. If the node that took them over is disturbed before, the
   * time begins anew.
   */
  readonly takeoverMs: number;
  /** From the commit of the end of a call until a read that waits for it, at a healthy node, gets its response. */
  readonly waitMs: number;
}

export interface ClusterSummary {
  readonly deaths: number;
  /** Calls that were under way at a node that died. */
  readonly orphanedCalls: number;
  readonly worstTakeoverMs: number;
  readonly judgedWaits: number;
  readonly worstWaitMs: number;
  /** Requests without a response, or with 5xx, by their reason. */
  readonly failedRequests: number;
}

/** A node is healthy for a request if it was so this long before and after it: health is sampled. */
const MARGIN_MS = 400;
/** A server writes its log at least this often; a busy machine takes a moment more. */
const LOGGED_WITHIN_MS = 300;

export interface ClusterObservations {
  readonly calls: ReadonlyMap<string, Call>;
  readonly effects: readonly Effect[];
  readonly history: History;
  readonly health: Pick<ClusterHealth, 'wasHealthy' | 'healthyUntil' | 'firstHealthy'>;
  readonly deaths: readonly Death[];
  readonly takeovers: readonly Takeover[];
  readonly failures: readonly FailedRequest[];
  readonly bounds: ClusterBounds;
  /** When the end of each call was committed, epoch milliseconds: a record is stamped before its commit. */
  readonly endCommittedAt: ReadonlyMap<string, number>;
}

/** What only several nodes promise; adds violations to the history. */
export function checkCluster(seen: ClusterObservations): ClusterSummary {
  checkFailures(seen);
  return {
    deaths: seen.deaths.length,
    failedRequests: seen.failures.length,
    ...checkTakeovers(seen),
    ...checkWaits(seen),
  };
}

/** What a dead node executed is sealed, or runs again, within the bound; counted from when one node was healthy for that long. */
function checkTakeovers(
  seen: ClusterObservations,
): Pick<ClusterSummary, 'orphanedCalls' | 'worstTakeoverMs'> {
  const { calls, effects, history, health, deaths, bounds } = seen;
  let [orphanedCalls, worstTakeoverMs] = [0, 0];
  for (const { pid, callId, attempt } of effects) {
    const call = calls.get(callId);
    for (const death of call === undefined ? [] : deaths.filter((one) => one.pid === pid)) {
      const next = nextChange(call as Call, attempt, death.at);
      if (next === null) continue;
      const from = health.firstHealthy(death.at, bounds.takeoverMs);
      // The node was back before another one had to take over its calls: they may have gone on where they were.
      if (next >= death.until && death.until <= from + bounds.takeoverMs) continue;
      orphanedCalls += 1;
      const tookMs = Math.max(...takeoverTimes(seen, death, next));
      worstTakeoverMs = Math.max(worstTakeoverMs, tookMs);
      if (tookMs > bounds.takeoverMs)
        history.violations.push(
          `${callId} was executing at a node that died at ${stamp(death.at)} (${death.cause}), and went on ${tookMs} ms after a node was healthy: ${historyOf(call as Call)}`,
        );
      break;
    }
  }
  return { orphanedCalls, worstTakeoverMs };
}

/**
 * How long a call of a dead node waited for each node that took it over, until it went on at `next`. A node that was disturbed
 * before that may have done nothing with the call.
 */
function takeoverTimes(
  { takeovers, health, bounds }: ClusterObservations,
  { pid, at }: Death,
  next: number,
): number[] {
  const times: number[] = [];
  let [holder, lostAt, since] = [pid, at, at];
  for (;;) {
    const from = health.firstHealthy(lostAt, bounds.takeoverMs);
    const taken = takeovers.find(
      (one) => one.of === holder && one.at > since && one.at - LOGGED_WITHIN_MS < next,
    );
    const disturbedAt =
      taken === undefined ? next : health.healthyUntil(taken.node, taken.at - LOGGED_WITHIN_MS);
    if (taken === undefined || disturbedAt >= next) return [...times, Math.round(next - from)];
    times.push(Math.round(taken.at - LOGGED_WITHIN_MS - from));
    [holder, lostAt, since] = [taken.pid, disturbedAt, taken.at];
  }
}

function historyOf({ toolName, timeline }: Call): string {
  const states = timeline.map(({ state, attempt, at }) => `${state} ${attempt ?? ''} ${stamp(at)}`);
  return [toolName, ...states].join(', ');
}

/** When the attempt ended that was executing, or held for input, at this moment; null if it was not. */
function nextChange(call: Call, attempt: number, at: number): number | null {
  const { timeline, toolName } = call;
  const index = timeline.findLastIndex((entry) => entry.at <= at);
  const [current, next] = [timeline[index], timeline[index + 1]];
  if (current === undefined || next === undefined) return null;
  const isHeld = current.state === 'INPUT_REQUIRED' && toolName === TOOLS.ask;
  const isRunning = current.state === 'EXECUTING' && current.attempt === attempt;
  return isRunning || isHeld ? next.at : null;
}

/** A read that waits at a healthy node gets the end of the call soon after it. */
function checkWaits({
  calls,
  history,
  health,
  bounds,
  endCommittedAt,
}: ClusterObservations): Pick<ClusterSummary, 'judgedWaits' | 'worstWaitMs'> {
  let [judgedWaits, worstWaitMs] = [0, 0];
  for (const { callId, node, sentAt, answeredAt } of history.waits) {
    const ending = calls.get(callId)?.timeline.at(-1);
    if (node === undefined || ending === undefined || !isTerminal(ending.state)) continue;
    if (answeredAt < ending.at || !health.wasHealthy(node, sentAt - MARGIN_MS, answeredAt + MARGIN_MS))
      continue;
    judgedWaits += 1;
    const committedAt = endCommittedAt.get(callId) ?? ending.at;
    const lateMs = Math.round(answeredAt - Math.max(committedAt, sentAt));
    worstWaitMs = Math.max(worstWaitMs, lateMs);
    if (lateMs > bounds.waitMs)
      history.violations.push(
        `${stamp(answeredAt)} a read at node ${node} waited for ${callId} and got it ${lateMs} ms late: sent ${stamp(sentAt)}, ended ${stamp(ending.at)}, committed ${stamp(committedAt)}`,
      );
  }
  return { judgedWaits, worstWaitMs };
}

/** A healthy node responds to every request, and has no problem. */
function checkFailures({ history, health, failures }: ClusterObservations): void {
  for (const { node, what, sentAt, failedAt } of failures) {
    if (node === undefined || !health.wasHealthy(node, sentAt - MARGIN_MS, failedAt + MARGIN_MS)) continue;
    history.violations.push(
      `${stamp(failedAt)} healthy node ${node}, after ${Math.round(failedAt - sentAt)} ms: ${what}`,
    );
  }
}
