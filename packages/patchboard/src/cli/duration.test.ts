import { describe, expect, it } from 'vitest';
import { durationMs, futureMoment, pastMoment, timeLeft } from './duration.ts';
import { UsageError } from './exit-codes.ts';

const NOW = Date.parse('2026-01-01T00:00:00Z');

describe('a duration', () => {
  it.each([
    ['90s', 90_000],
    ['30m', 1_800_000],
    ['12h', 43_200_000],
    ['30d', 2_592_000_000],
    ['2w', 1_209_600_000],
    ['1h30m', 5_400_000],
    ['1.5h', 5_400_000],
  ])('%s', (text, ms) => {
    expect(durationMs('--for', text)).toBe(ms);
  });

  it.each(['', '0s', '500ms', '-1h', '1', 'h', '1 h', '1y', '9999999999d'])('"%s" is refused', (text) => {
    expect(() => durationMs('--for', text)).toThrow(UsageError);
  });
});

describe('a point in the future', () => {
  it('is a duration from now, or RFC 3339', () => {
    expect(futureMoment('--expires', '1d', NOW)).toBe(NOW + 86_400_000);
    expect(futureMoment('--expires', '2026-02-01T00:00:00+08:00', NOW)).toBe(
      Date.parse('2026-01-31T16:00:00Z'),
    );
  });

  it.each([
    ['30', 'neither'],
    ['soon', 'neither'],
    ['2025-01-01', 'in the past'],
  ])('%s is refused', (text, why) => {
    expect(() => futureMoment('--expires', text, NOW)).toThrow(why);
  });
});

describe('a point in the past', () => {
  it.each([
    ['1h', '2025-12-31T23:00:00Z'],
    ['90s', '2025-12-31T23:58:30Z'],
    ['2025-12-01', '2025-12-01T00:00:00Z'],
    ['2025-12-01T08:00:00+08:00', '2025-12-01T00:00:00Z'],
    ['now', '2026-01-01T00:00:00Z'],
  ])('%s', (text, at) => {
    expect(pastMoment('--since', text, NOW)).toEqual(new Date(at));
  });

  it.each(['30', 'yesterday', '2026-02-30', '1y'])('"%s" is refused', (text) => {
    expect(() => pastMoment('--since', text, NOW)).toThrow('--since: ');
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
