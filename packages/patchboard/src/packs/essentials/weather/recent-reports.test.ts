import { describe, expect, it } from 'vitest';

import { RecentReports } from './recent-reports.ts';

describe('RecentReports', () => {
  it('is bounded and evicts the least recently used entry', () => {
    const recent = aCache();
    recent.keep('a', 1);
    recent.keep('b', 2);
    recent.find('a');
    recent.keep('c', 3);
    expect(recent.find('a')?.value).toBe(1);
    expect(recent.find('b')).toBeUndefined();
    expect(recent.find('c')?.value).toBe(3);
  });

  it('drops expired entries and tolerates a clock that steps back', () => {
    let now = 1000;
    const recent = aCache(() => now);
    recent.keep('a', 1);
    now = 500;
    expect(recent.find('a')).toEqual({ value: 1, ageMs: 0 });
    now = 1101;
    expect(recent.find('a')).toBeUndefined();
  });
});

function aCache(now: () => number = () => 0): RecentReports<number> {
  return new RecentReports({ maxEntries: 2, maxAgeMs: 100, now });
}
