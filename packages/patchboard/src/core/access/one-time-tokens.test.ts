import { describe, expect, it } from 'vitest';
import { OneTimeTokens } from './one-time-tokens.ts';

describe('OneTimeTokens', () => {
  it('are good once, and until they expire', () => {
    let now = 0;
    const tokens = new OneTimeTokens<string>({ most: 10, lifetimeMs: 100, now: () => now });
    tokens.add('a', 'first');
    tokens.add('b', 'second');
    expect([tokens.spend('a'), tokens.spend('a'), tokens.spend('none')]).toEqual(['first', null, null]);
    now = 100;
    expect(tokens.spend('b')).toBeNull();
  });

  it('are forgotten, the oldest first, when there are too many', () => {
    const tokens = new OneTimeTokens<number>({ most: 2, lifetimeMs: 100, now: () => 0 });
    for (const [at, token] of ['a', 'b', 'c'].entries()) tokens.add(token, at);
    expect([tokens.spend('a'), tokens.spend('b'), tokens.spend('c')]).toEqual([null, 1, 2]);
  });
});
