import { CALL_STATES, parseCallQuery, queryTerm } from '@patchboard/wire';
import { describe, expect, it } from 'vitest';
import { en } from './en.ts';
import { zh } from './zh.ts';

/** What a query means that has the label as the value of `state`. */
function meaningOf(label: string): unknown {
  const parsed = parseCallQuery(queryTerm('state', [label]), 0);
  return parsed.ok ? parsed.query : parsed.problems.map(({ code }) => code);
}

describe.each([
  ['English', en.states],
  ['Chinese', zh.states],
])('the %s labels of states', (_language, labels) => {
  it.each(CALL_STATES)('%s can be written in a query', (state) => {
    expect(meaningOf(labels[state])).toEqual({ states: [state] });
  });

  it('of refused requests and expired approvals too', () => {
    expect(meaningOf(labels.REFUSED)).toEqual({ isRefused: true });
    expect(meaningOf(labels.EXPIRED)).toEqual(['query_state_expired']);
  });
});
