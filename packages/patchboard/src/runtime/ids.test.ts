import { describe, expect, it } from 'vitest';
import { timeOrderedIds } from './ids.ts';

describe('timeOrderedIds', () => {
  it('sorts later ids later, also within one millisecond and when the clock steps back', () => {
    const times = [1000, 1000, 1000, 999, 500, 1001, 2000, 1];
    let index = 0;
    const ids = timeOrderedIds({ now: () => times[index++ % times.length] ?? 0 });
    const made = Array.from({ length: 5000 }, () => ids.next('tc_'));
    expect([...made].sort()).toEqual(made);
    expect(new Set(made).size).toBe(made.length);
  });

  it('keeps its order when a millisecond holds more ids than the counter', () => {
    const ids = timeOrderedIds({ now: () => 1000 });
    let last = '';
    for (let count = 0; count < 32 ** 4 + 10; count += 1) {
      const id = ids.next('run_');
      if (id <= last) throw new Error(`${id} after ${last}`);
      last = id;
    }
    expect(last).toMatch(/^run_[0-9a-z]{26}$/);
  });

  it('makes unique secrets of the requested length', () => {
    const ids = timeOrderedIds({ now: () => 1000 });
    const made = Array.from({ length: 2000 }, (_, index) => ids.secret(index % 3 === 0 ? 256 : 128));
    const bytes = made.map((secret) => Buffer.from(secret, 'base64url'));
    expect(bytes.map(({ length }) => length)).toEqual(made.map((_, index) => (index % 3 === 0 ? 32 : 16)));
    // No two 8-byte parts are equal: no secret shares bytes with another, and none was overwritten with zeros.
    const parts = bytes.flatMap((secret) =>
      Array.from({ length: secret.length / 8 }, (_, at) => secret.toString('hex', at * 8, at * 8 + 8)),
    );
    expect(new Set(parts).size).toBe(parts.length);
  });
});
