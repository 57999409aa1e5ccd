import {
  CALL_STATES,
  isCallState,
  isCallStatus,
  isTerminal,
  queryTerm,
  type QueryKeyName,
} from '@patchboard/wire';

/** The list of calls that match a query. */
export interface CallsLink {
  readonly name: 'calls';
  readonly query: Readonly<Record<string, string>>;
}

export function callsLink(query: string): CallsLink {
  return { name: 'calls', query: query === '' ? {} : { query } };
}

type QueryValues = Readonly<Partial<Record<QueryKeyName, string>>>;

/** A link to the calls that have each of these values. */
export function callsWith(values: QueryValues): CallsLink {
  return callsLink(termsOf(values).join(' '));
}

/** `failed`: every end but COMPLETED, as counts of failed calls have it. */
export type CountedStates = 'any' | 'open' | 'executing' | 'waiting' | 'failed';

const FAILED_STATES = CALL_STATES.filter((state) => isTerminal(state) && state !== 'COMPLETED').map((state) =>
  state.toLowerCase(),
);

/** A link to the calls that have each of these values and are in one of the states. */
export function callsInStates(values: QueryValues, states: CountedStates): CallsLink {
  if (states === 'any') return callsWith(values);
  const state = queryTerm('state', states === 'failed' ? FAILED_STATES : [states]);
  return callsLink([...termsOf(values), state].join(' '));
}

function termsOf(values: QueryValues): readonly string[] {
  const terms = Object.entries(values) as [QueryKeyName, string][];
  return terms.map(([key, value]) => queryTerm(key, [value]));
}

/** Parameters of links to the list that were made before it had a query. */
const FORMER = ['state', 'tool', 'agent', 'run', 'since', 'until'] as const;

/** Returns the same link with its filters as a query; null if it has none of them. */
export function linkOfFormerFilters(
  query: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> | null {
  const given = FORMER.filter((name) => typeof query[name] === 'string' && query[name] !== '');
  if (given.length === 0) return null;
  const rest = Object.entries(query).filter(([name]) => !FORMER.some((former) => former === name));
  const terms = given.map((name) => formerTerm(name, String(query[name])));
  const before = typeof query['query'] === 'string' ? [query['query']] : [];
  return { ...Object.fromEntries(rest), query: [...before, ...terms].join(' ') };
}

function formerTerm(name: (typeof FORMER)[number], value: string): string {
  if (name !== 'state') return queryTerm(name, [value]);
  const isStatus = isCallStatus(value) && !isCallState(value);
  return queryTerm(isStatus ? 'status' : 'state', [value.toLowerCase()]);
}
