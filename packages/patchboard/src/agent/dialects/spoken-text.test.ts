import { expect, it } from 'vitest';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import { SpokenText } from './spoken-text.ts';

it('tells the first piece at once, what follows as one, and the rest at the end', async () => {
  const clock = new FakeClock();
  const told: string[] = [];
  const spoken = new SpokenText(clock, (text) => told.push(text));
  for (const piece of ['Once ', 'upon ', 'a ']) spoken.add(piece);
  expect(told).toEqual(['Once ']);
  await clock.advance(25);
  expect(told).toEqual(['Once ', 'upon a ']);
  spoken.add('time');
  spoken.end();
  expect(told).toEqual(['Once ', 'upon a ', 'time']);
  spoken.end();
  await clock.advance(1000);
  expect(told).toHaveLength(3);
  spoken.add('again');
  expect(told.at(-1)).toBe('again');
});
