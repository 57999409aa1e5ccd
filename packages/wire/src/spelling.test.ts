import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nearestName } from './spelling.ts';

/** By its definition, however long that takes. */
function changes(one: string, other: string): number {
  if (one === '' || other === '') return one.length + other.length;
  const [a, b] = [one.slice(1), other.slice(1)];
  if (one[0] === other[0]) return changes(a, b);
  return 1 + Math.min(changes(a, b), changes(one, b), changes(a, other));
}

describe('nearestName', () => {
  it.each([
    ['weather.qury', 'weather.query'],
    ['weather__query', 'weather.query'],
    ['WEATHER.QUERY', 'weather.query'],
    ['calculation.evaluate', null],
    ['fs_raed', 'fs_read'],
    ['', null],
    ['x', null],
  ])('of %j is %j', (given, meant) => {
    expect(nearestName(given, ['weather.query', 'calculation.eval', 'fs_read', 'ls'])).toBe(meant);
  });

  it('is the first of the names with the fewest changes, three or half of it at most', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 7 });
    fc.assert(
      fc.property(word, fc.array(word, { maxLength: 5 }), (given, known) => {
        const near = known
          .map((name) => ({ name, by: changes(given, name) }))
          .filter(({ name, by }) => by <= Math.min(3, name.length / 2));
        const least = Math.min(...near.map(({ by }) => by));
        expect(nearestName(given, known)).toBe(near.find(({ by }) => by === least)?.name ?? null);
      }),
      { numRuns: 500 },
    );
  });

  it('names nothing that may not be named, and then the next', () => {
    const mayBeNamed = (name: string): boolean => name !== 'secret.tool';
    expect(nearestName('secret.tol', ['secret.tool'], mayBeNamed)).toBeNull();
    expect(nearestName('secret.tol', ['secret.tool', 'secret.toil'], mayBeNamed)).toBe('secret.toil');
  });

  it('looks at a thousand names and no more', () => {
    let looked = 0;
    function* endless(): Generator<string> {
      for (;;) {
        looked += 1;
        yield `tool_${looked}`;
      }
    }
    expect(nearestName('nothing like it', endless())).toBeNull();
    expect(looked).toBeLessThanOrEqual(1001);
  });
});
