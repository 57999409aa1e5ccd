import {
  runningCalls,
  shownRunOutcome,
  type RunOutcomeName,
  type RunView,
  type ShownRunOutcome,
} from '@patchboard/wire';

/** The fields of a run that a list shows. */
export interface RunRow {
  readonly id: string;
  readonly agent: string;
  /** As the server filters by it. */
  readonly outcome: RunOutcomeName | null;
  readonly shown: ShownRunOutcome | null;
  readonly total: number | null;
  readonly open: number | null;
  /** Open calls that are executed; the others wait. */
  readonly running: number | null;
  readonly failed: number | null;
  /** Epoch milliseconds. */
  readonly startedAt: number;
  /** Null while a call is open, and if none has ended. */
  readonly endedAt: number | null;
}

export function runRow(run: RunView): RunRow {
  const { run_id: id, agent_id: agent, created_at: at, outcome, calls } = run;
  const last = calls?.last_ended_at ?? null;
  return {
    id,
    agent,
    outcome: outcome ?? null,
    shown: shownRunOutcome(run),
    total: calls?.total ?? null,
    open: calls?.open ?? null,
    running: calls === undefined ? null : runningCalls(calls),
    failed: calls?.failed ?? null,
    startedAt: Date.parse(at),
    endedAt: last === null || (calls?.open ?? 0) > 0 ? null : Date.parse(last),
  };
}

/** How long the run has lasted; null if none of its calls has ended or is open, and of an open one without `now`. */
export function runLength({ open, startedAt, endedAt }: RunRow, now: number | null): number | null {
  if ((open ?? 0) > 0) return now === null ? null : Math.max(now - startedAt, 0);
  return endedAt === null ? null : Math.max(endedAt - startedAt, 0);
}
