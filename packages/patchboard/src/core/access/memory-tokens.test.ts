import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import { MemoryTokens } from './memory-tokens.ts';
import { TOKEN_CAPACITY } from './token-store.ts';

describe('MemoryTokens', () => {
  it('are found until they expire, and spent once', () => {
    const clock = new FakeClock();
    const tokens = new MemoryTokens(clock);
    tokens.put('ticket', 'a', '1', 100);
    tokens.put('ticket', 'b', '2', 100);
    expect([tokens.find('ticket', 'a'), tokens.find('login', 'a')]).toEqual(['1', null]);
    expect([tokens.spend('ticket', 'a'), tokens.spend('ticket', 'a')]).toEqual(['1', null]);
    clock.pass(100);
    expect([tokens.find('ticket', 'b'), tokens.spend('ticket', 'b')]).toEqual([null, null]);
  });

  it('are replaced with a new expiry', () => {
    const clock = new FakeClock();
    const tokens = new MemoryTokens(clock);
    tokens.put('mcp_session', 'a', '1', 100);
    clock.pass(99);
    tokens.put('mcp_session', 'a', '2', 100);
    clock.pass(99);
    expect(tokens.find('mcp_session', 'a')).toBe('2');
  });

  it('are discarded, the oldest of the kind first, beyond the capacity', () => {
    const tokens = new MemoryTokens(new FakeClock(), { ...TOKEN_CAPACITY, ticket: 2 });
    tokens.put('login', 'a', '0', 100);
    for (const token of ['a', 'b', 'c']) tokens.put('ticket', token, token, 100);
    expect(['a', 'b', 'c'].map((token) => tokens.find('ticket', token))).toEqual([null, 'b', 'c']);
    expect(tokens.find('login', 'a')).toBe('0');
  });
});
