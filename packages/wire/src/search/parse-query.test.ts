import { describe, expect, it } from 'vitest';
import { reasonText } from '../reasons/reason-text.ts';
import type { CallQuery, QueryTarget } from './call-query.ts';
import { parseCallQuery } from './parse-query.ts';

const NOW = Date.parse('2026-03-01T12:00:00Z');

function queryOf(text: string, target?: QueryTarget): CallQuery {
  const parsed = parseCallQuery(text, NOW, target);
  if (!parsed.ok) throw new Error(parsed.problems.map(reasonText).join('; '));
  return parsed.query;
}

/** Each problem as `code: the marked text`. */
function problemsOf(text: string, target?: QueryTarget): string[] {
  const parsed = parseCallQuery(text, NOW, target);
  if (parsed.ok) return [];
  return parsed.problems.map(
    ({ code, column, length }) => `${code}: ${text.slice(column - 1, column - 1 + length)}`,
  );
}

describe('a query', () => {
  it('has all kinds of terms', () => {
    const text =
      'tool:weather.* state:failed code:timeout agent:planner ran>2s since:1h "text in arguments" run:r1 trace:t1 parent:tc_1 client:laptop waited<=500ms until:now';
    expect(queryOf(text)).toEqual({
      tools: { any: ['weather.*'], none: [] },
      states: ['FAILED'],
      codes: { any: ['timeout'], none: [] },
      agents: { any: ['planner'], none: [] },
      ranMs: { atLeast: 2001 },
      waitedMs: { below: 501 },
      since: NOW - 3_600_000,
      until: NOW,
      runId: 'r1',
      traceId: 't1',
      parentCallId: 'tc_1',
      clientId: 'laptop',
      texts: ['text in arguments'],
    });
  });

  it.each<[string, CallQuery]>([
    ['', {}],
    [' \t\n　', {}],
    ['tool:a,b', { tools: { any: ['a', 'b'], none: [] } }],
    ['Tool:a -TOOL:b -tool:c,b', { tools: { any: ['a'], none: ['b', 'c'] } }],
    [
      String.raw`agent:"my agent","a,b","say \"hi\" \\"`,
      {
        agents: { any: ['my agent', 'a,b', String.raw`say "hi" \ `.trim()], none: [] },
      },
    ],
    ['state:COMPLETED,failed', { states: ['COMPLETED', 'FAILED'] }],
    ['state:open', { states: ['PENDING', 'APPROVAL_REQUIRED', 'APPROVED', 'EXECUTING', 'INPUT_REQUIRED'] }],
    ['state:open,ended', {}],
    ['state:Waiting', { states: ['PENDING', 'APPROVAL_REQUIRED', 'APPROVED', 'INPUT_REQUIRED'] }],
    ['state:Running', { states: ['EXECUTING'] }],
    [
      '-state:"Timed out",needs-approval,CANCELED',
      {
        states: [
          'PENDING',
          'APPROVED',
          'EXECUTING',
          'INPUT_REQUIRED',
          'COMPLETED',
          'FAILED',
          'DENIED',
          'SEALED',
        ],
      },
    ],
    ['state:执行中,超时', { states: ['EXECUTING', 'TIMED_OUT'] }],
    ['state:被拒绝', { isRefused: true }],
    ['-state:open status:failed', { states: ['FAILED', 'DENIED', 'CANCELLED', 'SEALED'] }],
    ['status:timeout', { states: ['TIMED_OUT'] }],
    ['ran>=1m30s ran<2m ran>10s', { ranMs: { atLeast: 90_000, below: 120_000 } }],
    ['total<0.5s', { totalMs: { below: 500 } }],
    ['since:2026-01-31', { since: Date.parse('2026-01-31T00:00:00Z') }],
    ['since:2026-01-31T10:00', { since: Date.parse('2026-01-31T10:00:00Z') }],
    ['since:2026-01-31T10:00:00+08:00', { since: Date.parse('2026-01-31T02:00:00Z') }],
    ['since:1767225600', { since: 1_767_225_600_000 }],
    ['Oslo "Oslo" 北京　天气', { texts: ['Oslo', '北京', '天气'] }],
    ['12:30 city=Oslo a,b foo"bar', { texts: ['12:30', 'city=Oslo', 'a,b', 'foo"bar'] }],
    ['"http://x"', { texts: ['http://x'] }],
    ['state:refused tool:x', { isRefused: true, tools: { any: ['x'], none: [] } }],
  ])('%s', (text, query) => {
    expect(queryOf(text)).toEqual(query);
  });

  it.each([
    ['tol:x', ['query_key_unknown_near: tol']],
    ['-zzzzzzz:x', ['query_key_unknown: zzzzzzz']],
    ['http://x', ['query_key_unknown: http']],
    ['tool=x', ['query_operator: =']],
    ['tool：x', ['query_operator: ：']],
    ['ran:2s', ['query_operator: :']],
    ['tool>x', ['query_operator: >']],
    ['tool:', ['query_value_missing: tool:']],
    ['tool: x', ['query_value_missing: tool:']],
    ['tool:a,', ['query_value_missing: tool:a,']],
    ['agent:""', ['query_value_missing: ""']],
    ['tool:a tool:b', ['query_key_twice: tool:b']],
    ['since:1h since:2h', ['query_single_twice: since:2h']],
    ['run:a,b', ['query_single_value: run:a,b']],
    ['-run:a', ['query_not_excludable: -run:a']],
    ['-word', ['query_text_excluded: -word']],
    ['- "…"', ['query_text_without_words: -', 'query_text_without_words: "…"']],
    ['state:faild', ['query_value_unknown_near: faild']],
    ['state:runing', ['query_value_unknown_near: runing']],
    ['state:expired', ['query_state_expired: expired']],
    ['state:x,failed', ['query_value_unknown: x']],
    ['status:denied', ['query_value_unknown: denied']],
    ['ran>2', ['query_not_duration: 2']],
    ['ran>9999d', ['query_not_duration: 9999d']],
    ['since:60', ['query_not_time: 60']],
    ['since:2026-02-30', ['query_not_time: 2026-02-30']],
    ['since:yesterday', ['query_not_time: yesterday']],
    ['x "unclosed a:b', ['query_quote_unclosed: "unclosed a:b']],
    ['agent:"a"b', ['query_after_quote: b']],
    ['tool:*a*b*c*d*e*f*g*h*', ['query_too_many_wildcards: *a*b*c*d*e*f*g*h*']],
    ['ran>2s ran<1s', ['query_matches_nothing: ran<1s']],
    ['ran<0ms', ['query_matches_nothing: ran<0ms']],
    ['until:2h since:1h', ['query_matches_nothing: since:1h']],
    ['state:failed status:timeout', ['query_matches_nothing: status:timeout']],
    ['state:refused,failed', ['query_refused_alone: state:refused,failed']],
    ['-state:refused', ['query_refused_alone: -state:refused']],
    ['ran>1s state:refused word', ['query_not_of_refused: ran>1s', 'query_not_of_refused: word']],
    ['state:refused -state:failed', ['query_not_of_refused: -state:failed']],
    [
      'tol:x agent: ran>2',
      ['query_key_unknown_near: tol', 'query_value_missing: agent:', 'query_not_duration: 2'],
    ],
  ])('%s is wrong where it is wrong', (text, problems) => {
    expect(problemsOf(text)).toEqual(problems);
  });

  it('is bounded', () => {
    expect(problemsOf('a'.repeat(2001))).toEqual(['query_too_long: a']);
    expect(problemsOf(Array.from({ length: 51 }, (_, index) => `w${index}`).join(' '))).toEqual([
      'query_too_many_terms: w50',
    ]);
    expect(problemsOf(`tool:${'a'.repeat(201)}`)).toEqual([`query_value_too_long: ${'a'.repeat(201)}`]);
  });

  it('has the terms that its target has', () => {
    expect(problemsOf('state:refused tool:x', 'calls')).toEqual(['query_refused_elsewhere: state:refused']);
    expect(queryOf('tool:x', 'refused')).toEqual({ isRefused: true, tools: { any: ['x'], none: [] } });
    expect(queryOf('state:refused', 'refused')).toEqual({ isRefused: true });
    expect(problemsOf('state:failed run:x', 'refused')).toEqual([
      'query_not_of_refused: state:failed',
      'query_not_of_refused: run:x',
    ]);
    expect(queryOf('tool:x -agent:y', 'metrics')).toEqual({
      tools: { any: ['x'], none: [] },
      agents: { any: [], none: ['y'] },
    });
    expect(problemsOf('tool:x code:y z', 'metrics')).toEqual([
      'query_not_of_metrics: code:y',
      'query_not_of_metrics: z',
    ]);
  });

  it('says what to do', () => {
    const parsed = parseCallQuery('tol:x', NOW);
    expect(parsed.ok ? [] : parsed.problems.map(reasonText)).toEqual([
      'there is no key "tol"; did you mean tool?',
    ]);
  });
});
