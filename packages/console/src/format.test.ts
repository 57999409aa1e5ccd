import { describe, expect, it } from 'vitest';
import {
  ago,
  clockTime,
  countText,
  dayAndTime,
  fromNow,
  shortCount,
  shortDuration,
  sinceWords,
} from './format.ts';

describe('dayAndTime', () => {
  it.each(['en', 'zh'])('has the same clock of 24 hours as the rows of a list: %s', (language) => {
    const at = new Date(2026, 10, 18, 15, 4, 5).getTime() / 1000;
    expect(clockTime(at, language)).toBe('15:04:05');
    expect(dayAndTime(at, language)).toContain('15:04:05');
  });
});

describe('sinceWords', () => {
  it('has a moment in the time zone of the user, and a span as it is', () => {
    const at = new Date(2026, 10, 18, 15, 4, 5);
    expect(sinceWords(at.toISOString(), 'en')).toBe('≥ 11/18, 15:04:05');
    expect(sinceWords('90m', 'en')).toBe('90m');
    expect(sinceWords('2026-11-18', 'en')).toBe('2026-11-18');
  });
});

describe('ago', () => {
  const now = Date.parse('2026-11-18T15:04:05Z');
  const before = (ms: number): string => new Date(now - ms).toISOString();

  it('is never in the future, also if the clock of the server is ahead', () => {
    expect(ago(before(-900), now, 'en')).toBe('now');
    expect(ago(before(-90_000), now, 'zh')).toBe('现在');
    expect(fromNow(before(-90_000), now, 'en')).toBe('in 2 min.');
  });

  it('has no 60 minutes and no 24 hours', () => {
    expect([59_000, 59_900, 3_590_000, 3_600_000 * 23.8].map((ms) => ago(before(ms), now, 'en'))).toEqual([
      '59 sec. ago',
      '1 min. ago',
      '1 hr. ago',
      'yesterday',
    ]);
  });
});

describe('counts', () => {
  it('have the separators of the language', () => {
    expect(countText(30_001, 'en')).toBe('30,001');
    expect(countText(1_000_000, 'zh')).toBe('1,000,000');
  });

  it('are shortened on an axis as in the language, so that no label can be taken for minutes', () => {
    expect([999.5, 5000, 30_000, 1_000_000].map((count) => shortCount(count, 'en'))).toEqual([
      '999.5',
      '5,000',
      '30K',
      '1M',
    ]);
    expect(shortCount(30_000, 'zh')).toBe('3万');
    expect(shortDuration(60_000)).toBe('1 min');
  });
});
