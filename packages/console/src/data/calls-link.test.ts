import { parseCallQuery } from '@patchboard/wire';
import { describe, expect, it } from 'vitest';
import { callsInStates, callsLink, callsWith, linkOfFormerFilters } from './calls-link.ts';

describe('links to calls', () => {
  it('hold a query, with quotes where a value needs them', () => {
    expect(callsLink('')).toEqual({ name: 'calls', query: {} });
    expect(callsWith({ agent: 'my agent', run: 'r1' }).query).toEqual({ query: 'agent:"my agent" run:r1' });
  });

  it('in states are read by the parser as these states', () => {
    const of = (...given: Parameters<typeof callsInStates>): unknown =>
      parseCallQuery(callsInStates(...given).query['query'] ?? '', 0);
    expect(callsInStates({ run: 'a b' }, 'failed').query).toEqual({
      query: 'run:"a b" state:failed,timed_out,denied,cancelled,sealed',
    });
    expect(of({ run: 'a b' }, 'failed')).toMatchObject({
      ok: true,
      query: { runId: 'a b', states: ['FAILED', 'TIMED_OUT', 'DENIED', 'CANCELLED', 'SEALED'] },
    });
    expect(of({ trace: 't' }, 'executing')).toMatchObject({ query: { states: ['EXECUTING'] } });
    expect(callsInStates({ trace: 't' }, 'waiting').query).toEqual({ query: 'trace:t state:waiting' });
    expect(callsInStates({ trace: 't' }, 'any')).toEqual(callsWith({ trace: 't' }));
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
