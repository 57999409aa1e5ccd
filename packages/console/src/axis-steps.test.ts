import { expect, it } from 'vitest';
import { durationTicks } from './axis-steps.ts';
import { longestText, shortDuration } from './format.ts';

it('labels an axis at round durations only', () => {
  const labels = (ms: number): readonly string[] => durationTicks(ms, 5).ticks.map(shortDuration);
  expect(labels(12_180)).toEqual(['0 ms', '5 s', '10 s']);
  expect(labels(480)).toEqual(['0 ms', '100 ms', '200 ms', '300 ms', '400 ms']);
  expect(labels(1)).toEqual(['0 ms', '1 ms']);
  expect(labels(400_000)).toEqual(['0 ms', '2 min', '4 min', '6 min']);
  expect(labels(1000 * 86_400_000)).toHaveLength(6);
});

it('shows the upper bound of a step as such, never below the true value', () => {
  // A call that ran 4043 ms is counted in the step up to 4095 ms.
  expect(longestText(4095)).toBe('≤ 4.10 s');
  expect(longestText(127)).toBe('≤ 127 ms');
  expect(longestText(63)).toBe('63 ms');
  expect(longestText(61_439)).toBe('≤ 1 min 2 s');
  expect(longestText(null)).toBe('–');
});
