import { CALL_STATES, type CallStateName } from '../call-state.ts';
import { reason } from '../reasons/reason-text.ts';
import { nearestName } from '../spelling.ts';
import {
  QUERY_LIMITS,
  type CallQuery,
  type MsRange,
  type NamePatterns,
  type ParsedCallQuery,
  type QueryProblem,
  type QueryTarget,
} from './call-query.ts';
import { CALL_QUERY_KEYS, queryKey, type QueryKey, type QueryKeyName } from './query-keys.ts';
import { lexQuery, problemAt, type QueryTerm } from './query-terms.ts';
import { durationRange, hasWords, idOf, momentOf, namesOf, statesOfTerm } from './query-values.ts';
import { isRefusedName } from './state-names.ts';

type NamesKey = 'tools' | 'agents' | 'codes';
type RangeKey = 'waitedMs' | 'ranMs' | 'totalMs';
type IdKey = 'runId' | 'traceId' | 'parentCallId' | 'clientId';

/** The member of `CallQuery` that each key sets, by kind. */
const NAMES: Partial<Record<QueryKeyName, NamesKey>> = { tool: 'tools', agent: 'agents', code: 'codes' };
const RANGES: Partial<Record<QueryKeyName, RangeKey>> = {
  waited: 'waitedMs',
  ran: 'ranMs',
  total: 'totalMs',
};
const IDS: Partial<Record<QueryKeyName, IdKey>> = {
  run: 'runId',
  trace: 'traceId',
  parent: 'parentCallId',
  client: 'clientId',
};

/** The query while its terms are read. */
interface Draft {
  readonly now: number;
  readonly problems: QueryProblem[];
  /** Keys that were there without `-`. */
  readonly seen: Set<string>;
  query: { -readonly [Member in keyof CallQuery]: CallQuery[Member] };
}

/** Parses a query. An empty one matches everything. `now`: epoch milliseconds, for `since:1h`. */
export function parseCallQuery(text: string, now: number, target: QueryTarget = 'any'): ParsedCallQuery {
  const { characters } = QUERY_LIMITS;
  if (text.length > characters) {
    const rest = { column: characters + 1, length: text.length - characters };
    return { ok: false, problems: [problemAt(rest, reason('query_too_long', { characters }))] };
  }
  const { terms, problems } = lexQuery(text);
  const draft: Draft = { now, problems: [...problems], seen: new Set(), query: {} };
  for (const term of terms.slice(0, QUERY_LIMITS.terms)) addTerm(draft, term);
  const tooMany = terms[QUERY_LIMITS.terms];
  if (tooMany !== undefined)
    draft.problems.push(problemAt(tooMany, reason('query_too_many_terms', { count: QUERY_LIMITS.terms })));
  checkTarget(draft, terms, target);
  if (draft.problems.length > 0) return { ok: false, problems: inOrder(draft.problems) };
  return { ok: true, query: draft.query };
}

function addTerm(draft: Draft, term: QueryTerm): void {
  if (term.key === null) {
    addText(draft, term);
    return;
  }
  const key = queryKey(term.key);
  const problem =
    key === undefined
      ? unknownKey(term, term.key)
      : (operatorProblem(key, term) ?? repeated(draft, key, term));
  if (problem !== null) draft.problems.push(problem);
  else if (key !== undefined) addKeyed(draft, key, term);
}

function addText({ query, problems }: Draft, term: QueryTerm): void {
  const text = term.values[0]?.text ?? '';
  if (term.isNegated) problems.push(problemAt(term, reason('query_text_excluded')));
  else if (!hasWords(text)) problems.push(problemAt(term, reason('query_text_without_words')));
  else if (text.length > QUERY_LIMITS.valueCharacters)
    problems.push(
      problemAt(term, reason('query_value_too_long', { characters: QUERY_LIMITS.valueCharacters })),
    );
  else query.texts = [...new Set([...(query.texts ?? []), text])];
}

function unknownKey(term: QueryTerm, key: string): QueryProblem {
  const names = CALL_QUERY_KEYS.map(({ name }) => name);
  const meant = nearestName(key, names);
  const part = { column: term.column + (term.isNegated ? 1 : 0), length: key.length };
  if (meant !== null) return problemAt(part, reason('query_key_unknown_near', { key, meant }));
  return problemAt(part, reason('query_key_unknown', { key, known: names.join(', ') }));
}

function operatorProblem({ name, operators, isNegatable }: QueryKey, term: QueryTerm): QueryProblem | null {
  const operator = term.operator ?? '';
  if (!operators.includes(operator)) {
    const column = term.column + (term.isNegated ? 1 : 0) + name.length;
    const why = reason('query_operator', { key: name, operator, operators: operators.join(' ') });
    return problemAt({ column, length: operator.length }, why);
  }
  if (!term.isNegated || isNegatable) return null;
  return problemAt(term, reason('query_not_excludable', { key: name }));
}

/** Two lists of one key cannot both match; ranges and exclusions can. */
function repeated({ seen }: Draft, { name, kind }: QueryKey, term: QueryTerm): QueryProblem | null {
  if (kind === 'duration' || term.isNegated) return null;
  if (!seen.has(name)) {
    seen.add(name);
    return null;
  }
  const isList = kind !== 'id' && kind !== 'time';
  return problemAt(term, reason(isList ? 'query_key_twice' : 'query_single_twice', { key: name }));
}

function addKeyed(draft: Draft, { name, kind }: QueryKey, term: QueryTerm): void {
  switch (kind) {
    case 'names':
      addNames(draft, NAMES[name], term);
      return;
    case 'states':
    case 'statuses':
      addStates(draft, kind, term);
      return;
    case 'id':
      addId(draft, IDS[name], term);
      return;
    case 'time':
      addTime(draft, name === 'since' ? 'since' : 'until', term);
      return;
    case 'duration':
      addRange(draft, RANGES[name], term);
      return;
  }
}

function addNames({ query, problems }: Draft, member: NamesKey | undefined, term: QueryTerm): void {
  const names = namesOf(term, problems);
  if (member === undefined || names === null) return;
  const { any, none }: NamePatterns = query[member] ?? { any: [], none: [] };
  query[member] = term.isNegated
    ? { any, none: [...new Set([...none, ...names])] }
    : { any: [...new Set(names)], none };
}

function addStates({ query, problems }: Draft, kind: 'states' | 'statuses', term: QueryTerm): void {
  const named = statesOfTerm(kind, term, problems);
  if (named === null) return;
  if (named === 'refused') {
    query.isRefused = true;
    return;
  }
  const matches = (state: CallStateName): boolean => named.includes(state) !== term.isNegated;
  const states = (query.states ?? CALL_STATES).filter(matches);
  if (states.length === 0) problems.push(problemAt(term, reason('query_matches_nothing')));
  else if (states.length === CALL_STATES.length) delete query.states;
  else query.states = states;
}

function addId({ query, problems }: Draft, member: IdKey | undefined, term: QueryTerm): void {
  const id = idOf(term, problems);
  if (member !== undefined && id !== null) query[member] = id;
}

function addTime({ now, query, problems }: Draft, member: 'since' | 'until', term: QueryTerm): void {
  const at = momentOf(term, now, problems);
  if (at === null) return;
  query[member] = at;
  if (query.since !== undefined && query.until !== undefined && query.since >= query.until)
    problems.push(problemAt(term, reason('query_matches_nothing')));
}

function addRange({ query, problems }: Draft, member: RangeKey | undefined, term: QueryTerm): void {
  const given = durationRange(term, problems);
  if (member === undefined || given === null) return;
  const range = bothRanges(query[member] ?? {}, given);
  if ((range.atLeast ?? 0) >= (range.below ?? Infinity))
    problems.push(problemAt(term, reason('query_matches_nothing')));
  else query[member] = range;
}

function bothRanges(one: MsRange, other: MsRange): MsRange {
  const atLeast = Math.max(one.atLeast ?? -1, other.atLeast ?? -1);
  const below = Math.min(one.below ?? Infinity, other.below ?? Infinity);
  return { ...(atLeast < 0 ? {} : { atLeast }), ...(below === Infinity ? {} : { below }) };
}

/** Reports the terms that the target does not have. */
function checkTarget({ query, problems }: Draft, terms: readonly QueryTerm[], target: QueryTarget): void {
  const isRefused = query.isRefused === true || target === 'refused';
  for (const term of terms) {
    const key = queryKey(term.key ?? '');
    if (term.key !== null && key === undefined) continue;
    const isRefusedTerm = key?.kind === 'states' && isRefusedName(term.values[0]?.text ?? '');
    if (target === 'metrics') {
      if (key?.name !== 'tool' && key?.name !== 'agent')
        problems.push(problemAt(term, reason('query_not_of_metrics')));
    } else if (target === 'calls') {
      if (isRefusedTerm) problems.push(problemAt(term, reason('query_refused_elsewhere')));
    } else if (isRefused && !isRefusedTerm && (key === undefined || !key.isOfRefusals)) {
      problems.push(problemAt(term, reason('query_not_of_refused')));
    }
  }
  if (target === 'refused') query.isRefused = true;
}

/** In the order of the text, so that the first is what a reader meets first. */
function inOrder(problems: readonly QueryProblem[]): readonly QueryProblem[] {
  return problems.toSorted((one, other) => one.column - other.column);
}
