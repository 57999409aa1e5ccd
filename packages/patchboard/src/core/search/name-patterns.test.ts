import { describe, expect, it } from 'vitest';
import { matchesNames } from './name-patterns.ts';

function matchesOne(pattern: string, name: string): boolean {
  return matchesNames({ any: [pattern], none: [] }, name);
}

describe('a pattern of names', () => {
  it('matches any characters with a star, and every other character as it is', () => {
    const matching = [
      ['weather.*', 'weather.query'],
      ['weather.*', 'weather.'],
      ['*query', 'weather.query'],
      ['*', ''],
      ['a*b*c', 'a-b-b-c'],
      ['a*aa', 'aaa'],
      ['**', 'x'],
      ['[a]?%_', '[a]?%_'],
    ] as const;
    for (const [pattern, name] of matching)
      expect(matchesOne(pattern, name), `${pattern} ${name}`).toBe(true);
    const other = [
      ['weather.*', 'weather'],
      ['weather.*', 'my.weather.query'],
      ['ab*ba', 'aba'],
      ['a*b*c', 'acb'],
      ['?', 'x'],
      ['Weather', 'weather'],
    ] as const;
    for (const [pattern, name] of other) expect(matchesOne(pattern, name), `${pattern} ${name}`).toBe(false);
  });

  it('takes linear time for many stars', () => {
    expect(matchesOne('*a*a*a*a*a*a*a*a*b', 'a'.repeat(100_000))).toBe(false);
  });
});

describe('patterns', () => {
  it('match one of the wanted names and none of the others', () => {
    const patterns = { any: ['fs.*', 'web.get'], none: ['*.delete'] };
    const names = ['fs.read', 'fs.delete', 'web.get', 'web.put'];
    expect(names.filter((name) => matchesNames(patterns, name))).toEqual(['fs.read', 'web.get']);
    expect(matchesNames({ any: [], none: ['x'] }, 'y')).toBe(true);
  });

  it('match no name only if none is wanted', () => {
    expect(matchesNames({ any: ['*'], none: [] }, null)).toBe(false);
    expect(matchesNames({ any: [], none: ['*'] }, null)).toBe(true);
  });
});
