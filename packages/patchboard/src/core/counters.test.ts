import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Counters } from './counters.ts';

describe('Counters', () => {
  it('counts like a list of names, also after many of them were forgotten', () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ name: fc.nat({ max: 20 }), add: fc.boolean() }), { maxLength: 100 }),
        (steps) => {
          const counters = new Counters();
          const counts = new Map<string, number>();
          for (const [index, { name, add }] of steps.entries()) {
            const change = add || (counts.get(`${name}`) ?? 0) === 0 ? 1 : -1;
            counts.set(`${name}`, (counts.get(`${name}`) ?? 0) + change);
            counters.add(`${name}`, change);
            for (let passing = 0; passing < 100; passing += 1) {
              counters.add(`passing ${index} ${passing}`, 1);
              counters.add(`passing ${index} ${passing}`, -1);
            }
          }
          for (const [name, count] of counts) expect(counters.of(name)).toBe(count);
          expect(counters.of('passing 0 0')).toBe(0);
        },
      ),
      { numRuns: 50 },
    );
  });

  it('takes back once what was entered', () => {
    const counters = new Counters();
    const leave = counters.enter('a');
    counters.enter('a');
    leave();
    leave();
    expect(counters.of('a')).toBe(1);
  });
});
