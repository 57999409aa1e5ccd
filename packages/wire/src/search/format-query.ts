import { CALL_STATES, type CallStateName } from '../call-state.ts';
import type { CallQuery, MsRange, NamePatterns } from './call-query.ts';
import type { QueryKeyName } from './query-keys.ts';
import { queryTerm, quotedText } from './query-terms.ts';
import { durationText, momentText } from './query-time.ts';
import { REFUSED, STATE_GROUPS } from './state-names.ts';

/** Writes a query as text that `parseCallQuery` reads back as the same query. Times become absolute. */
export function formatCallQuery(query: CallQuery): string {
  const { runId, traceId, parentCallId, clientId, since, until, texts = [] } = query;
  const one = (key: QueryKeyName, value: string | undefined): string[] =>
    value === undefined ? [] : [queryTerm(key, [value])];
  return [
    ...nameTerms('tool', query.tools),
    ...nameTerms('agent', query.agents),
    ...(query.isRefused === true ? [queryTerm('state', [REFUSED])] : []),
    ...(query.states === undefined ? [] : [stateTerm(query.states)]),
    ...nameTerms('code', query.codes),
    ...one('run', runId),
    ...one('trace', traceId),
    ...one('parent', parentCallId),
    ...one('client', clientId),
    ...rangeTerms('waited', query.waitedMs),
    ...rangeTerms('ran', query.ranMs),
    ...rangeTerms('total', query.totalMs),
    ...one('since', since === undefined ? undefined : momentText(since)),
    ...one('until', until === undefined ? undefined : momentText(until)),
    ...texts.map(quotedText),
  ].join(' ');
}

function nameTerms(key: QueryKeyName, patterns: NamePatterns = { any: [], none: [] }): string[] {
  return [
    ...(patterns.any.length === 0 ? [] : [queryTerm(key, patterns.any)]),
    ...(patterns.none.length === 0 ? [] : [queryTerm(key, patterns.none, true)]),
  ];
}

/** A group if it has exactly these states; the excluded ones if they are fewer. */
function stateTerm(states: readonly CallStateName[]): string {
  for (const [group, members] of STATE_GROUPS) {
    if (members.length === states.length && members.every((state) => states.includes(state)))
      return queryTerm('state', [group]);
  }
  const others = CALL_STATES.filter((state) => !states.includes(state));
  const isExcluding = others.length < states.length;
  const named = isExcluding ? others : states;
  return queryTerm(
    'state',
    named.map((state) => state.toLowerCase()),
    isExcluding,
  );
}

/** Of `>=` and `>`, whichever has the shorter duration: `>2s` is at least 2001 ms. */
function rangeTerms(key: QueryKeyName, { atLeast, below }: MsRange = {}): string[] {
  return [
    ...(atLeast === undefined ? [] : [queryTerm(key, [comparison('>=', '>', atLeast)])]),
    ...(below === undefined ? [] : [queryTerm(key, [comparison('<', '<=', below)])]),
  ];
}

function comparison(exact: string, byOneLess: string, ms: number): string {
  const text = durationText(ms);
  const less = ms === 0 ? text : durationText(ms - 1);
  return less.length < text.length ? byOneLess + less : exact + text;
}
