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

export interface Comparison {
  readonly ratio: number;
  readonly min: number;
  readonly max: number;
}

/** Ratios of interleaved pairs: load on the machine slows both sides. */
export function comparePaired(values: readonly number[], against: readonly number[]): Comparison {
  const ratios = values.map((value, index) => value / (against[index] ?? Number.NaN));
  return { ratio: median(ratios), min: Math.min(...ratios), max: Math.max(...ratios) };
}
