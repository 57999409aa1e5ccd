import { expect, it } from 'vitest';
import { seriesColor } from './series-color.ts';

it('each outcome has a colour of its own, at any place', () => {
  const outcomes = ['COMPLETED', 'FAILED', 'TIMED_OUT', 'REFUSED', 'DENIED', 'CANCELLED', 'SEALED'];
  for (const place of [0, 3, 5]) {
    const colors = outcomes.map((outcome) => seriesColor(outcome, place));
    expect(new Set(colors).size).toBe(outcomes.length);
  }
});
