import { describe, expect, it } from 'vitest';
import { durationMs, momentOf, timeLeft } from './duration.ts';
import { UsageError } from './exit-codes.ts';

const NOW = Date.parse('2026-01-01T00:00:00Z');

describe('a duration', () => {
  it.each([
    ['90s', 90_000],
    ['30m', 1_800_000],
    ['12h', 43_200_000],
    ['30d', 2_592_000_000],
    ['2w', 1_209_600_000],
  ])('%s', (text, ms) => {
    expect(durationMs('--for', text)).toBe(ms);
  });

  it.each(['', '0s', '-1h', '1.5h', '1', 'h', '1 h', '1y', '9999999999d'])('"%s" is refused', (text) => {
    expect(() => durationMs('--for', text)).toThrow(UsageError);
  });
});

describe('a point in time', () => {
  it('is a duration from now, or RFC 3339', () => {
    expect(momentOf('--expires', '1d', NOW)).toBe(NOW + 86_400_000);
    expect(momentOf('--expires', '2026-02-01T00:00:00+08:00', NOW)).toBe(Date.parse('2026-01-31T16:00:00Z'));
  });

  it.each([
    ['30', 'neither'],
    ['soon', 'neither'],
    ['2025-01-01', 'in the past'],
  ])('%s is refused', (text, why) => {
    expect(() => momentOf('--expires', text, NOW)).toThrow(why);
  });
});

describe('time left', () => {
  it.each([
    [-5, '0:00'],
    [1, '0:01'],
    [598_000, '9:58'],
    [3_600_000, '1 h 00 m'],
    [90_000_000, '1 d 1 h'],
  ])('%i ms', (ms, text) => {
    expect(timeLeft(ms)).toBe(text);
  });
});
