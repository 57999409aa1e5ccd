const OUTCOME_COLORS: Readonly<Record<string, string>> = {
  COMPLETED: '--ok',
  FAILED: '--bad',
  TIMED_OUT: '--accent',
  REFUSED: '--warn',
  DENIED: '--muted',
  CANCELLED: '--text',
  SEALED: '--line-strong',
};
const COLORS = ['--accent', '--ok', '--warn', '--bad', '--muted', '--text'];

/** The variable of the colour of a series: that of its outcome, else by its place. */
export function seriesColor(key: string, index: number): string {
  return OUTCOME_COLORS[key] ?? COLORS[index] ?? '--muted';
}
