/** The median, so that one bad slice on a busy machine does not dominate. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle];
  if (upper === undefined) throw new Error('no values');
  const lower = sorted.length % 2 === 0 ? (sorted[middle - 1] ?? upper) : upper;
  return (lower + upper) / 2;
}

/** The value that the given share of all values does not exceed. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const value = sorted[Math.ceil(sorted.length * share) - 1];
  if (value === undefined) throw new Error('no values');
  return value;
}

/** The median of all slices, and the slices that differ most from it. */
export interface Spread {
  readonly value: number;
  readonly min: number;
  readonly max: number;
}

export function spreadOf(values: readonly number[]): Spread {
  return { value: median(values), min: Math.min(...values), max: Math.max(...values) };
}

/** Ratios of interleaved pairs: load on the machine slows both sides. */
export function comparePaired(values: readonly number[], against: readonly number[]): Spread {
  return spreadOf(values.map((value, index) => value / (against[index] ?? Number.NaN)));
}

/** Differences of interleaved pairs. */
export function subtractPaired(values: readonly number[], from: readonly number[]): Spread {
  return spreadOf(values.map((value, index) => value - (from[index] ?? Number.NaN)));
}
