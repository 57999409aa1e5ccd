import { describe, expect, it } from 'vitest';
import { PREDICATE } from '../../../transports/operator-api/approvals.ts';
import { decodePolicy } from './document.ts';
import {
  COMPARISON_NAMES,
  COMPARISONS,
  COMPARISONS_TEXT,
  holds,
  type ArgumentCondition,
} from './argument-condition.ts';

function problemsWith(condition: Readonly<Record<string, unknown>>): unknown {
  const rule = { tools: '*', effect: 'ask', when: [{ arg: '/x', ...condition }] };
  const decoded = decodePolicy({ default: { rules: [rule] } });
  return decoded.ok ? [] : decoded.problems.map(({ path, message }) => `${path} ${message}`);
}

const RIGHT = { 'any value': null, text: 'a', pattern: 'a*', number: 1 };
const WRONG = { text: 'must be a text', pattern: 'must be a text', number: 'must be a number' };

describe('an argument condition', () => {
  it.each(COMPARISON_NAMES)('%s checks the type of its operand, and is described by the API', (name) => {
    const { takes } = COMPARISONS[name];
    expect(problemsWith({ [name]: RIGHT[takes] })).toEqual([]);
    if (takes !== 'any value')
      expect(problemsWith({ [name]: null })).toEqual([`/default/rules/0/when/0/${name} ${WRONG[takes]}`]);
    expect(PREDICATE['properties']).toHaveProperty(name);
  });

  it('needs at least one comparison, and the message names all of them', () => {
    expect(problemsWith({})).toEqual([`/default/rules/0/when/0 needs a test: ${COMPARISONS_TEXT}`]);
    expect(COMPARISONS_TEXT).toBe('equals, prefix, glob, gt, gte, lt or lte');
    expect(PREDICATE['required']).toEqual(['arg']);
  });

  it('holds if all its comparisons hold; an undefined one is ignored', () => {
    const range: ArgumentCondition = { arg: '/x', gt: 1, lte: 3 };
    expect([1, 2, 3, 4, '2', null].map((x) => holds(range, { x }))).toEqual([
      false,
      true,
      true,
      false,
      false,
      false,
    ]);
    expect(
      holds({ arg: '/x', prefix: undefined, glob: 'a*' } as unknown as ArgumentCondition, { x: 'abc' }),
    ).toBe(true);
    expect(holds({ arg: '/x', equals: null }, { x: null })).toBe(true);
    expect(holds({ arg: '/x', equals: undefined }, { x: 1 })).toBe(false);
    expect(holds({ arg: '/y', equals: 1 }, { x: 1 })).toBe(false);
  });

  it('equals compares numbers as the tool gets them: the text of a call has no negative zero', () => {
    const negative = JSON.parse('{"x":-0,"in":[{"x":-0}]}') as unknown;
    expect(JSON.stringify(negative)).toBe('{"x":0,"in":[{"x":0}]}');
    expect(holds({ arg: '/x', equals: 0 }, negative)).toBe(true);
    expect(holds({ arg: '/in', equals: [{ x: 0 }] }, negative)).toBe(true);
    expect(holds({ arg: '/x', equals: -0 }, { x: 0 })).toBe(true);
    expect(holds({ arg: '/x', equals: false }, { x: 0 })).toBe(false);
  });
});
