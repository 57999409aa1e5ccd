import { expect, it } from 'vitest';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import { DeltaBatcher } from './delta-batcher.ts';

it('emits the first delta at once, merges those that follow, and emits the rest at the end', async () => {
  const clock = new FakeClock();
  const emitted: string[] = [];
  const deltas = new DeltaBatcher(clock, (text) => emitted.push(text));
  for (const piece of ['Once ', 'upon ', 'a ']) deltas.add(piece);
  expect(emitted).toEqual(['Once ']);
  await clock.advance(25);
  expect(emitted).toEqual(['Once ', 'upon a ']);
  deltas.add('time');
  deltas.end();
  expect(emitted).toEqual(['Once ', 'upon a ', 'time']);
  deltas.end();
  await clock.advance(1000);
  expect(emitted).toHaveLength(3);
  deltas.add('again');
  expect(emitted.at(-1)).toBe('again');
});
