import { parseCallQuery } from '@patchboard/wire';
import { describe, expect, it } from 'vitest';
import { callsLink, callsWith, linkOfFormerFilters } from './calls-link.ts';

describe('links to calls', () => {
  it('hold a query, with quotes where a value needs them', () => {
    expect(callsLink('')).toEqual({ name: 'calls', query: {} });
    expect(callsWith({ agent: 'my agent', run: 'r1' }).query).toEqual({ query: 'agent:"my agent" run:r1' });
  });

  it('with the former filters become a query that the parser reads', () => {
    const since = '2026-01-31T10:00:00.000Z';
    const former = { state: 'FAILED', tool: 'a b', since, until: '', tenant: 'x' };
    const link = linkOfFormerFilters(former);
    expect(link).toEqual({ tenant: 'x', query: `state:failed tool:"a b" since:${since}` });
    expect(parseCallQuery(String(link?.['query']), 0)).toMatchObject({
      ok: true,
      query: { states: ['FAILED'], tools: { any: ['a b'] }, since: Date.parse(since) },
    });
    expect(linkOfFormerFilters({ state: 'SUCCEEDED', query: 'Oslo' })).toEqual({
      query: 'Oslo status:succeeded',
    });
    expect(linkOfFormerFilters({ query: 'tool:x', tenant: 'x' })).toBeNull();
  });
});
