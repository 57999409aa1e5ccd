import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KeptOutput, Ring } from './kept-output.ts';

const chunks = fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 30 });

describe('a ring', () => {
  it('holds the last bytes of a stream with their offset', () => {
    fc.assert(
      fc.property(chunks, fc.integer({ min: 1, max: 50 }), fc.nat(600), (given, size, offset) => {
        const ring = new Ring(size);
        for (const chunk of given) ring.push(Buffer.from(chunk));
        const all = Buffer.concat(given);
        const start = Math.min(all.length, Math.max(offset, all.length - size));
        expect(ring.end).toBe(all.length);
        expect(ring.from(offset)).toEqual({ start, bytes: all.subarray(start) });
      }),
      { numRuns: 1000 },
    );
  });
});

describe('kept output', () => {
  it('is complete if it fits, otherwise the beginning, the number of missing bytes and the end', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ maxLength: 30, unit: 'grapheme-ascii' }), { maxLength: 20 }),
        (given) => {
          const kept = new KeptOutput(100);
          for (const text of given) kept.push(Buffer.from(text));
          const all = given.join('');
          expect(kept.truncated).toBe(all.length > 100);
          if (!kept.truncated) expect(kept.text()).toBe(all);
          else {
            const note = `\n[… ${all.length - 100} bytes left out …]\n`;
            expect(kept.text()).toBe(all.slice(0, 50) + note + all.slice(-50));
          }
        },
      ),
    );
  });
});
