import { isTerminal, type CallView } from '@patchboard/wire';

/** How the last calls of a tool went. */
export interface ToolHealth {
  readonly count: number;
  readonly succeeded: number;
  readonly medianMs: number | null;
  readonly slowMs: number | null;
  readonly failures: readonly CallView[];
}

export function healthOf(calls: readonly CallView[]): ToolHealth {
  const ended = calls.filter(({ state }) => isTerminal(state));
  const times = ended
    .flatMap(({ duration_ms: ms }) => (ms === null ? [] : [ms]))
    .sort((one, other) => one - other);
  return {
    count: ended.length,
    succeeded: ended.filter(({ status }) => status === 'SUCCEEDED').length,
    medianMs: percentile(times, 0.5),
    slowMs: percentile(times, 0.95),
    failures: ended.filter(({ status }) => status !== 'SUCCEEDED').slice(0, 5),
  };
}

/** Of sorted numbers: the nearest rank. Null when there are none. */
export function percentile(sorted: readonly number[], share: number): number | null {
  if (sorted.length === 0) return null;
  return sorted[Math.min(Math.ceil(share * sorted.length), sorted.length) - 1] ?? null;
}
