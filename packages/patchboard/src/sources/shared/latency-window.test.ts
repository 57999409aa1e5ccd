import { describe, expect, it } from 'vitest';
import { LatencyWindow } from './latency-window.ts';

describe('LatencyWindow', () => {
  it('returns null before the first call', () => {
    expect(new LatencyWindow().summary()).toBeNull();
  });

  it('returns the median and the 95th percentile', () => {
    const window = new LatencyWindow();
    for (let ms = 100; ms >= 1; ms -= 1) window.add(ms);
    expect(window.summary()).toEqual({ median: 50, p95: 95 });
  });

  it('returns the only duration for both', () => {
    const window = new LatencyWindow();
    window.add(7);
    expect(window.summary()).toEqual({ median: 7, p95: 7 });
  });

  it('forgets the oldest durations', () => {
    const window = new LatencyWindow(3);
    for (const ms of [900, 800, 1, 2, 3]) window.add(ms);
    expect(window.summary()).toEqual({ median: 2, p95: 3 });
  });
});
