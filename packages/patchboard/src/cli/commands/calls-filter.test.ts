import { describe, expect, it } from 'vitest';
import { filterOf, groupTerm } from './calls-filter.ts';
import type { ListFlags } from './calls-list.ts';

const filtered = (state: string): unknown => filterOf({ state } as ListFlags, 0);

describe('--state', () => {
  it('takes a state, a group and refused requests', () => {
    expect(filtered('Timed out')).toEqual({ state: 'TIMED_OUT' });
    expect([filtered('open'), groupTerm('open')]).toEqual([{}, ['state:open']]);
    expect(filtered('refused')).toEqual({});
  });

  it('names the query for calls whose approval expired, and the states for another word', () => {
    expect(() => filtered('expired')).toThrow(/^--state: .*write code:approval_expired$/);
    expect(() => filtered('gone')).toThrow(
      /^--state: "gone" is not one of PENDING, .*, OPEN, WAITING, ENDED, REFUSED$/,
    );
  });
});
