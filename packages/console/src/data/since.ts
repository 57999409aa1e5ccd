const SPANS: Readonly<Record<string, number>> = {
  '5m': 300,
  '15m': 900,
  '1h': 3600,
  '6h': 21_600,
  '24h': 86_400,
  '7d': 604_800,
  '30d': 2_592_000,
};

export const SINCE_CHOICES: readonly string[] = Object.keys(SPANS);

/**
 * Converts "1h" or a time to a time. Rounded to minutes, so that the same choice keeps the same query key for
 * a while.
 */
export function sinceOf(choice: string): string {
  const seconds = SPANS[choice];
  if (seconds === undefined) return choice;
  return new Date(Math.floor((Date.now() - seconds * 1000) / 60_000) * 60_000).toISOString();
}
