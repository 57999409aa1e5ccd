import { describe, expect, it } from 'vitest';
import { clockTime, dayAndTime } from './format.ts';

describe('dayAndTime', () => {
  it.each(['en', 'zh'])('has the same clock of 24 hours as the rows of a list: %s', (language) => {
    const at = new Date(2026, 10, 18, 15, 4, 5).getTime() / 1000;
    expect(clockTime(at, language)).toBe('15:04:05');
    expect(dayAndTime(at, language)).toContain('15:04:05');
  });
});
