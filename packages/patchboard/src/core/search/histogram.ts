import type { PercentilesView } from '@patchboard/wire';

/**
 * Counts of durations in logarithmic buckets, of which each is at most 1/32 (about 3 %) wide; merging two of them adds their counts.
 * Immutable. `counts` has the number of durations per bucket index.
 */
export interface Histogram {
  readonly counts: ReadonlyMap<number, number>;
}

/**
 * Buckets per power of two: the buckets of `[2^n, 2^(n+1))` are equally wide, at most 1/32 of their lower bound. Durations
 * below it have a bucket each.
 */
const PER_OCTAVE = 32;
/** About 35 years; longer durations are counted as this one. */
const MAX_MS = 2 ** 40 - 1;

export function histogramOf(durationsMs: Iterable<number>): Histogram {
  const counts = new Map<number, number>();
  for (const ms of durationsMs) increase(counts, bucketOf(ms), 1);
  return { counts };
}

/** Merges histograms, also encoded ones. Throws a `RangeError` if bytes are not from `encodeHistogram`. */
export function mergedHistogram(histograms: Iterable<Histogram | Uint8Array>): Histogram {
  const sum = new HistogramSum();
  for (const histogram of histograms) sum.add(histogram);
  return sum.histogram;
}

/** Adds up histograms, also encoded ones. */
export class HistogramSum {
  readonly #counts: Map<number, number> = new Map();

  /** Throws a `RangeError` if the bytes are not from `encodeHistogram`. */
  add(histogram: Histogram | Uint8Array): void {
    if (histogram instanceof Uint8Array) addEncoded(this.#counts, histogram);
    else for (const [bucket, count] of histogram.counts) increase(this.#counts, bucket, count);
  }

  get histogram(): Histogram {
    return { counts: this.#counts };
  }
}

export function totalCount({ counts }: Histogram): number {
  let total = 0;
  for (const count of counts.values()) total += count;
  return total;
}

/** Returns the highest duration of the bucket that holds each percentile (nearest rank); null if the histogram is empty. */
export function percentilesOf(histogram: Histogram): PercentilesView | null {
  const sorted = [...histogram.counts].sort(([a], [b]) => a - b);
  const last = sorted.at(-1);
  if (last === undefined) return null;
  const total = totalCount(histogram);
  const at = (fraction: number): number => {
    let remaining = Math.ceil(total * fraction);
    for (const [bucket, count] of sorted) {
      remaining -= count;
      if (remaining <= 0) return highestOf(bucket);
    }
    return highestOf(last[0]);
  };
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99), max: highestOf(last[0]) };
}

/** Encodes as variable-length integers: per bucket, in order, the distance to the bucket before and the count. */
export function encodeHistogram({ counts }: Histogram): Uint8Array {
  const bytes: number[] = [];
  let before = 0;
  for (const [bucket, count] of [...counts].sort(([a], [b]) => a - b)) {
    pushInteger(bytes, bucket - before);
    pushInteger(bytes, count);
    before = bucket;
  }
  return Uint8Array.from(bytes);
}

function addEncoded(counts: Map<number, number>, bytes: Uint8Array): void {
  const reader = { bytes, at: 0 };
  let bucket = 0;
  while (reader.at < bytes.length) {
    bucket += takeInteger(reader);
    increase(counts, bucket, takeInteger(reader));
  }
}

function bucketOf(ms: number): number {
  // The wall clock may step back between two moments.
  const whole = Math.min(MAX_MS, Math.max(0, Math.round(ms)));
  if (whole < PER_OCTAVE) return whole;
  const octave = Math.floor(Math.log2(whole / PER_OCTAVE));
  return octave * PER_OCTAVE + Math.floor(whole / 2 ** octave);
}

function highestOf(bucket: number): number {
  if (bucket < 2 * PER_OCTAVE) return bucket;
  const octave = Math.floor(bucket / PER_OCTAVE) - 1;
  return (bucket - octave * PER_OCTAVE + 1) * 2 ** octave - 1;
}

function increase(counts: Map<number, number>, bucket: number, by: number): void {
  counts.set(bucket, (counts.get(bucket) ?? 0) + by);
}

function pushInteger(bytes: number[], value: number): void {
  let rest = value;
  while (rest >= 128) {
    bytes.push((rest % 128) + 128);
    rest = Math.floor(rest / 128);
  }
  bytes.push(rest);
}

function takeInteger(reader: { readonly bytes: Uint8Array; at: number }): number {
  let value = 0;
  let factor = 1;
  for (;;) {
    const byte = reader.bytes[reader.at];
    if (byte === undefined || factor > 2 ** 49) throw new RangeError('a stored histogram is damaged');
    reader.at += 1;
    value += (byte % 128) * factor;
    if (byte < 128) return value;
    factor *= 128;
  }
}
