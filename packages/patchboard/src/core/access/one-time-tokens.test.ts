import { describe, expect, it } from 'vitest';
import { OneTimeTokens } from './one-time-tokens.ts';

describe('OneTimeTokens', () => {
  it('can be spent once, until they expire', () => {
    let now = 0;
    const tokens = new OneTimeTokens<string>({ capacity: 10, lifetimeMs: 100, now: () => now });
    tokens.add('a', 'first');
    tokens.add('b', 'second');
    expect([tokens.spend('a'), tokens.spend('a'), tokens.spend('none')]).toEqual(['first', null, null]);
    now = 100;
    expect(tokens.spend('b')).toBeNull();
  });

  it('are discarded, the oldest first, beyond the capacity', () => {
    const tokens = new OneTimeTokens<number>({ capacity: 2, lifetimeMs: 100, now: () => 0 });
    for (const [at, token] of ['a', 'b', 'c'].entries()) tokens.add(token, at);
    expect([tokens.spend('a'), tokens.spend('b'), tokens.spend('c')]).toEqual([null, 1, 2]);
  });
});
