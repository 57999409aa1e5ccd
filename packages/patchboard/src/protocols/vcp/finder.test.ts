import fc from 'fast-check';
import { expect, it, vi } from 'vitest';
import { Finder } from './finder.ts';

/** Around the number of characters that a search reads at least. */
const length = fc.oneof(fc.nat(3), fc.nat(6000), fc.constantFrom(4094, 4095, 4096, 4097, 4098));
const text = fc
  .array(fc.tuple(fc.constantFrom('`', 'a'), length), { maxLength: 8 })
  .map((parts) => parts.map(([character, count]) => 'a'.repeat(count) + character).join(''));

it('finds every match before the limit, wherever searches begin and end', () => {
  fc.assert(
    fc.property(text, fc.array(fc.tuple(length, length), { maxLength: 20 }), (searched, steps) => {
      const finder = new Finder(searched, '`');
      let from = 0;
      for (const [forward, ahead] of steps) {
        from += forward;
        const limit = ahead === 0 ? Infinity : from + ahead;
        const index = searched.indexOf('`', from);
        const found = finder.next(from, limit);
        // Whether it returns a match behind the limit is open.
        expect(found >= limit ? Infinity : found).toBe(index === -1 || index >= limit ? Infinity : index);
      }
    }),
    { numRuns: 2000 },
  );
});

it('searches a text once, however close to each other the limits are', () => {
  const text = 'a'.repeat(100_000);
  const finder = new Finder(text, '`');
  const spy = vi.spyOn(String.prototype, 'indexOf');
  for (let from = 0; from < text.length; from += 2) finder.next(from, from + 2);
  const searches = spy.mock.calls.length;
  spy.mockRestore();
  expect(searches).toBeLessThan(30);
});
