import type { RunView } from '../views.ts';
import type { RunCallsView, RunOutcomeName } from './search-views.ts';

/** `waiting`: calls of the run are open, and none of them is executed. */
export type ShownRunOutcome = RunOutcomeName | 'waiting';

/** The outcome of a run as it is shown: `running` on the wire is also a run whose open calls all wait. Null if it is unknown. */
export function shownRunOutcome({
  outcome,
  calls,
}: Pick<RunView, 'outcome' | 'calls'>): ShownRunOutcome | null {
  if (outcome === undefined) return null;
  const isWaiting = outcome === 'running' && calls !== undefined && runningCalls(calls) === 0;
  return isWaiting ? 'waiting' : outcome;
}

/** Number of calls that are executed. The other open ones wait: for a slot, a client or device, an approval or input. */
export function runningCalls({ by_state: byState }: Pick<RunCallsView, 'by_state'>): number {
  return byState.EXECUTING ?? 0;
}
