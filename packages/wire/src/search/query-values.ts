import { CALL_STATES, isCallStatus, statesOf, type CallStateName } from '../call-state.ts';
import { reason } from '../reasons/reason-text.ts';
import { nearestName } from '../spelling.ts';
import { QUERY_LIMITS, type MsRange, type QueryProblem } from './call-query.ts';
import { queryKey } from './query-keys.ts';
import { problemAt, type QueryPart, type QueryTerm, type QueryValue } from './query-terms.ts';
import { parseDuration, parseMoment } from './query-time.ts';
import { isExpiredName, isRefusedName, REFUSED, statesNamed } from './state-names.ts';

/** Each function returns null, and adds to `problems`, if a value of the term is not valid. */
type Problems = QueryProblem[];

/** Whether a text has a word that an index can find. */
export function hasWords(text: string): boolean {
  return /[\p{L}\p{N}]/u.test(text);
}

export function namesOf(term: QueryTerm, problems: Problems): readonly string[] | null {
  const { wildcards } = QUERY_LIMITS;
  let isValid = true;
  for (const value of term.values) {
    if (isPresent(term, value, problems)) {
      if (value.text.split('*').length - 1 <= wildcards) continue;
      problems.push(problemAt(value, reason('query_too_many_wildcards', { count: wildcards })));
    }
    isValid = false;
  }
  return isValid ? term.values.map(({ text }) => text) : null;
}

/** Returns `refused` for `state:refused`, which is no state of a call. */
export function statesOfTerm(
  kind: 'states' | 'statuses',
  term: QueryTerm,
  problems: Problems,
): readonly CallStateName[] | 'refused' | null {
  if (kind === 'states' && term.values.some(({ text }) => isRefusedName(text))) {
    if (term.values.length === 1 && !term.isNegated) return REFUSED;
    problems.push(problemAt(term, reason('query_refused_alone')));
    return null;
  }
  const found = new Set<CallStateName>();
  let isValid = true;
  for (const value of term.values) {
    const states = kind === 'states' ? statesNamed(value.text) : statesOfStatus(value.text);
    if (states === null) {
      isValid = false;
      if (isPresent(term, value, problems)) problems.push(unknownValue(term, value));
    } else for (const state of states) found.add(state);
  }
  return isValid ? CALL_STATES.filter((state) => found.has(state)) : null;
}

function statesOfStatus(text: string): readonly CallStateName[] | null {
  const status = text.toUpperCase();
  return isCallStatus(status) ? statesOf(status) : null;
}

function unknownValue({ key }: QueryTerm, value: QueryValue): QueryProblem {
  const name = key ?? '';
  const { kind, suggestions: known = [], synonyms = [] } = queryKey(name) ?? {};
  if (kind === 'states' && isExpiredName(value.text)) return problemAt(value, reason('query_state_expired'));
  const meant = nearestName(value.text, [...known, ...synonyms]);
  const given = { key: name, value: value.text };
  if (meant !== null) return problemAt(value, reason('query_value_unknown_near', { ...given, meant }));
  return problemAt(value, reason('query_value_unknown', { ...given, known: known.join(', ') }));
}

export function idOf(term: QueryTerm, problems: Problems): string | null {
  return singleValue(term, problems)?.text ?? null;
}

export function momentOf(term: QueryTerm, now: number, problems: Problems): number | null {
  const value = singleValue(term, problems);
  if (value === null) return null;
  const at = parseMoment(value.text, now);
  if (at === null) problems.push(problemAt(value, reason('query_not_time', { value: value.text })));
  return at;
}

export function durationRange(term: QueryTerm, problems: Problems): MsRange | null {
  const value = singleValue(term, problems);
  if (value === null) return null;
  const ms = parseDuration(value.text);
  if (ms === null) {
    problems.push(problemAt(value, reason('query_not_duration', { value: value.text })));
    return null;
  }
  switch (term.operator) {
    case '>':
      return { atLeast: ms + 1 };
    case '>=':
      return { atLeast: ms };
    case '<':
      return { below: ms };
    default:
      return { below: ms + 1 };
  }
}

function singleValue(term: QueryTerm, problems: Problems): QueryValue | null {
  const [value, second] = term.values;
  if (value === undefined || !isPresent(term, value, problems)) return null;
  if (second === undefined) return value;
  problems.push(problemAt(term, reason('query_single_value', { key: term.key ?? '' })));
  return null;
}

function isPresent(term: QueryTerm, value: QueryValue, problems: Problems): boolean {
  const { valueCharacters: characters } = QUERY_LIMITS;
  if (value.text !== '' && value.text.length <= characters) return true;
  const part: QueryPart = value.length === 0 ? term : value;
  const why =
    value.text === ''
      ? reason('query_value_missing', { key: `${term.key ?? ''}${term.operator ?? ''}` })
      : reason('query_value_too_long', { characters });
  problems.push(problemAt(part, why));
  return false;
}
