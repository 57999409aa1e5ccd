import { describe, expect, it } from 'vitest';
import { comparisonsFor, conditionsOn, conditionWords, predicatesOf } from './grant-conditions.ts';

const args = { path: '/tmp/a', deep: { 'a/b': { count: 3 } }, list: [1, 2], none: null };

describe('conditions on arguments', () => {
  it('start as equality with each argument value', () => {
    expect(predicatesOf(conditionsOn(args))).toEqual([
      { arg: '/path', equals: '/tmp/a' },
      { arg: '/deep/a~1b/count', equals: 3 },
      { arg: '/list', equals: [1, 2] },
      { arg: '/none', equals: null },
    ]);
  });

  it('are on an empty object too: without one any value of it would be granted', () => {
    expect(predicatesOf(conditionsOn({ options: {}, deep: { more: {} } }))).toEqual([
      { arg: '/options', equals: {} },
      { arg: '/deep/more', equals: {} },
    ]);
    expect(conditionsOn({})).toEqual([]);
  });

  it('become the chosen comparison, and are left out for any value', () => {
    const [path, count, list, none] = conditionsOn(args);
    path!.comparison = 'prefix';
    path!.text = '/tmp/';
    count!.comparison = 'lte';
    count!.number = 10;
    list!.comparison = 'any';
    none!.comparison = 'any';
    expect(predicatesOf([path!, count!, list!, none!])).toEqual([
      { arg: '/path', prefix: '/tmp/' },
      { arg: '/deep/a~1b/count', lte: 10 },
    ]);
  });

  it('offer only comparisons that fit the type of the value', () => {
    expect(comparisonsFor('a')).toContain('glob');
    expect(comparisonsFor(1)).not.toContain('prefix');
    expect(comparisonsFor([])).toEqual(['any', 'equals']);
  });

  it('have a description for every comparison', () => {
    expect(conditionWords([{ arg: '/n', gt: 1, lt: 5 }], (name) => `<${name}>`)).toEqual([
      '/n <gt> 1',
      '/n <lt> 5',
    ]);
  });
});
