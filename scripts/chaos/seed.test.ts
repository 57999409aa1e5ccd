import { describe, expect, it } from 'vitest';
import { chaosSeed, parseSeed } from './seed.ts';
import { SeededRandom } from './seeded-random.ts';

describe('the seed of a chaos test', () => {
  function seedWith(given: string | undefined, fixed?: number): { seed: number; printed: string } {
    let printed = '';
    const seed = chaosSeed('kill-loop', fixed, given, (line) => (printed += line));
    return { seed, printed };
  }

  it('is the given one, and is printed', () => {
    expect(seedWith('17', 7)).toEqual({
      seed: 17,
      printed: 'kill-loop: seed 17; to repeat it set CHAOS_SEED=17\n',
    });
  });

  it('is the fixed one of the test if none is given', () => {
    expect(seedWith(undefined, 7)).toMatchObject({ seed: 7 });
  });

  it('is printed if it is random, and repeats the same choices when it is given', () => {
    const first = seedWith(undefined);
    const printed = /CHAOS_SEED=(\d+)/.exec(first.printed)?.[1];
    const again = seedWith(printed);
    expect(again.seed).toBe(first.seed);
    const choices = ({ seed }: { seed: number }): number[] => {
      const random = new SeededRandom(seed);
      return Array.from({ length: 20 }, () => random.between(0, 1000));
    };
    expect(choices(again)).toEqual(choices(first));
  });

  it.each(['', 'x', '1.5'])('is refused if it is "%s"', (given) => {
    expect(parseSeed(given)).toBeNull();
    expect(() => seedWith(given)).toThrow(`CHAOS_SEED is "${given}"; it must be a whole number`);
  });
});
