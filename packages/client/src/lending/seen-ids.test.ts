import { expect, it } from 'vitest';
import { SeenIds } from './seen-ids.ts';

it('recognises an id until ten thousand newer ones were added', () => {
  const seen = new SeenIds();
  expect([seen.add('first'), seen.add('first')]).toEqual([true, false]);
  for (let at = 1; at < 10_000; at += 1) seen.add(`other ${at}`);
  expect(seen.add('first')).toBe(false);
  seen.add('one more');
  expect(seen.add('first')).toBe(true);
});
