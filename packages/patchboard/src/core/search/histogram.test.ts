import { describe, expect, it } from 'vitest';
import { encodeHistogram, histogramOf, mergedHistogram, percentilesOf, totalCount } from './histogram.ts';

const POWERS = Array.from({ length: 40 }, (_, n) => 2 ** n);
const MANY = POWERS.flatMap((at) => [at - 1, at, at + 1, Math.round(at * 1.3), Math.round(at * 1.9)]);

describe('a histogram of durations', () => {
  it('returns each duration at most 5 % too high, and never too low', () => {
    for (const ms of MANY) {
      const { max } = percentilesOf(histogramOf([ms]))!;
      expect(max).toBeGreaterThanOrEqual(ms);
      expect(max).toBeLessThanOrEqual(ms * 1.05);
    }
  });

  it('keeps the order of durations in the order of buckets', () => {
    const buckets = [...MANY].sort((a, b) => a - b).map((ms) => [...histogramOf([ms]).counts.keys()][0]!);
    expect(buckets).toEqual([...buckets].sort((a, b) => a - b));
  });

  it('has the percentiles of the nearest rank', () => {
    const upTo20 = Array.from({ length: 20 }, (_, n) => n + 1);
    expect(percentilesOf(histogramOf(upTo20))).toEqual({ p50: 10, p95: 19, p99: 20, max: 20 });
    expect(percentilesOf(histogramOf([7]))).toEqual({ p50: 7, p95: 7, p99: 7, max: 7 });
    expect(percentilesOf(histogramOf([]))).toBeNull();
  });

  it('counts a negative duration, after the clock stepped back, as 0', () => {
    expect(percentilesOf(histogramOf([-5, 1e15]))).toEqual({
      p50: 0,
      p95: 2 ** 40 - 1,
      p99: 2 ** 40 - 1,
      max: 2 ** 40 - 1,
    });
  });

  it('is the same whether durations are counted together or merged', () => {
    const parts = [MANY.slice(0, 50), MANY.slice(50, 60), [], MANY.slice(60)];
    const merged = mergedHistogram(parts.map((part) => histogramOf(part)));
    expect(merged).toEqual(histogramOf(MANY));
    expect(totalCount(merged)).toBe(MANY.length);
  });

  it('is decoded as it was encoded, from few bytes', () => {
    const many = histogramOf(Array.from({ length: 100_000 }, (_, n) => 20 + (n % 7) * 100));
    expect(mergedHistogram([encodeHistogram(many)])).toEqual(many);
    expect(encodeHistogram(many).length).toBeLessThan(40);
    expect(mergedHistogram([encodeHistogram(histogramOf(MANY))])).toEqual(histogramOf(MANY));
    expect(encodeHistogram(histogramOf([]))).toHaveLength(0);
    expect(() => mergedHistogram([Uint8Array.of(5, 255)])).toThrow(RangeError);
  });
});
