import type { RunOutcomeName, RunView } from '@patchboard/wire';

/** The fields of a run that a list shows. */
export interface RunRow {
  readonly id: string;
  readonly agent: string;
  readonly outcome: RunOutcomeName | null;
  readonly total: number | null;
  readonly open: number | null;
  readonly failed: number | null;
  /** Epoch milliseconds. */
  readonly startedAt: number;
  /** Null while a call is open, and if none has ended. */
  readonly endedAt: number | null;
}

export function runRow({ run_id: id, agent_id: agent, created_at: at, outcome, calls }: RunView): RunRow {
  const last = calls?.last_ended_at ?? null;
  return {
    id,
    agent,
    outcome: outcome ?? null,
    total: calls?.total ?? null,
    open: calls?.open ?? null,
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
