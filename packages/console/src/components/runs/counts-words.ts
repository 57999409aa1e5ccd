import type { RunRow } from '../../data/run-row.ts';

/** Counts of the calls of a run or a trace; of open calls also how many wait. A dash for what an older server does not count. */
export function countsWords(
  { total, open, running, failed }: Pick<RunRow, 'total' | 'open' | 'running' | 'failed'>,
  t: (key: string, given: Readonly<Record<string, unknown>>, plural: number) => string,
): string {
  const counts = { total: total ?? '–', open: open ?? '–', failed: failed ?? '–' };
  if (open === null || running === null || open === 0) return t('runs.counts', counts, total ?? 0);
  // Both are counted one after the other: a call may have ended between them.
  const waiting = Math.max(open - running, 0);
  return t('runs.openCounts', { ...counts, running, waiting }, total ?? 0);
}
