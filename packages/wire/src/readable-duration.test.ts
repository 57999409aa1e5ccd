import { describe, expect, it } from 'vitest';
import { readableDuration } from './readable-duration.ts';

describe('readableDuration', () => {
  it.each([
    [0, '0 ms'],
    [0.4, '0 ms'],
    [999.4, '999 ms'],
    [999.6, '1 s'],
    [1250, '1.25 s'],
    [9994, '9.99 s'],
    [9996, '10.0 s'],
    [12_345, '12.3 s'],
    [30_000, '30 s'],
    [59_949, '59.9 s'],
    [59_960, '1 min 0 s'],
    [119_700, '2 min 0 s'],
    [125_000, '2 min 5 s'],
    [3_599_600, '1 h 0 min'],
    [12_000_000, '3 h 20 min'],
    [47 * 3_600_000, '47 h 0 min'],
    [52 * 3_600_000, '2 d 4 h'],
  ])('%d is %s', (ms, text) => {
    expect(readableDuration(ms)).toBe(text);
  });
});
