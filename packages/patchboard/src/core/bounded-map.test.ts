import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BoundedMap } from './bounded-map.ts';

describe('BoundedMap', () => {
  it('forgets what was set longest ago', () => {
    const map = new BoundedMap<string, number>(2);
    map.set('a', 1);
    map.set('b', 2);
    map.set('a', 3);
    map.set('c', 4);
    expect([map.get('a'), map.get('b'), map.get('c'), map.size]).toEqual([3, undefined, 4, 2]);
  });

  it('keeps what is used, and a look alone is no use', () => {
    const map = new BoundedMap<string, number>(2);
    map.set('a', 1);
    map.set('b', 2);
    expect([map.use('a'), map.get('b')]).toEqual([1, 2]);
    map.set('c', 3);
    expect([map.get('a'), map.get('b')]).toEqual([1, undefined]);
  });

  it('forgets nothing for what is too heavy by itself', () => {
    const map = new BoundedMap<string, string>(5, (key, value) => key.length + value.length);
    map.set('a', 'one');
    map.set('b', 'x'.repeat(5));
    expect([map.get('a'), map.get('b')]).toEqual(['one', undefined]);
    map.set('a', 'x'.repeat(5));
    expect(map.get('a')).toBeUndefined();
  });

  it('is never heavier than it may be, whatever is done to it', () => {
    const key = fc.constantFrom('a', 'b', 'c', 'd');
    const step = fc.oneof(
      fc.record({ do: fc.constant('set' as const), key, weight: fc.integer({ min: 0, max: 7 }) }),
      fc.record({ do: fc.constantFrom('use', 'delete', 'clear'), key, weight: fc.constant(0) }),
    );
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        const map = new BoundedMap<string, number>(6, (_, weight) => weight);
        for (const { do: act, key: name, weight } of steps) {
          if (act === 'set') map.set(name, weight);
          else if (act === 'clear') map.clear();
          else map[act as 'use' | 'delete'](name);
          const kept = ['a', 'b', 'c', 'd'].map((each) => map.get(each) ?? 0);
          expect(kept.reduce((sum, each) => sum + each)).toBeLessThanOrEqual(6);
        }
        // What was forgotten no longer weighs: there is room for one as heavy as all.
        for (const name of ['a', 'b', 'c', 'd']) map.delete(name);
        map.set('a', 2);
        map.set('b', 4);
        expect([map.get('a'), map.get('b')]).toEqual([2, 4]);
      }),
    );
  });
});
