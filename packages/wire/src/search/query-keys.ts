import { CALL_STATES, CALL_STATUSES } from '../call-state.ts';
import { FAILURE_CODES } from '../failure-codes.ts';
import { reason, type Reason } from '../reasons/reason-text.ts';
import { OTHER_STATE_NAMES, STATE_GROUP_NAMES } from './state-names.ts';

/** `names`: patterns. `id`: one exact value. */
export type QueryKeyKind = 'names' | 'states' | 'statuses' | 'id' | 'time' | 'duration';

export type QueryKeyName =
  | 'tool'
  | 'agent'
  | 'state'
  | 'status'
  | 'code'
  | 'run'
  | 'trace'
  | 'parent'
  | 'client'
  | 'since'
  | 'until'
  | 'waited'
  | 'ran'
  | 'total';

/** A key of a query, with all that the parser, the formatter, completion and help know of it. */
export interface QueryKey {
  readonly name: QueryKeyName;
  readonly kind: QueryKeyKind;
  readonly operators: readonly string[];
  /** Whether `-key:value` excludes values. */
  readonly isNegatable: boolean;
  /** Whether refused requests have it, beside `state:refused`. */
  readonly isOfRefusals: boolean;
  /** All values of a closed list; otherwise examples. Empty for names and ids that only a server knows. */
  readonly suggestions: readonly string[];
  /** Values that mean one of `suggestions`. Completion offers them for what is typed, not in the whole list. */
  readonly synonyms: readonly string[];
  readonly help: Reason;
}

const LOWER_STATES = CALL_STATES.map((state) => state.toLowerCase());
const STATES = [...LOWER_STATES, ...STATE_GROUP_NAMES];
const STATUSES = CALL_STATUSES.map((status) => status.toLowerCase());
const TIMES = ['15m', '1h', '24h', '7d', '30d'];
const DURATIONS = ['100ms', '500ms', '1s', '5s', '30s', '1m'];
const COMPARISONS = ['>', '>=', '<', '<='];

export const CALL_QUERY_KEYS: readonly QueryKey[] = [
  keyOf('tool', 'names', reason('query_help_tool'), { isNegatable: true, isOfRefusals: true }),
  keyOf('agent', 'names', reason('query_help_agent'), { isNegatable: true, isOfRefusals: true }),
  keyOf('state', 'states', reason('query_help_state'), {
    isNegatable: true,
    suggestions: STATES,
    synonyms: OTHER_STATE_NAMES,
  }),
  keyOf('status', 'statuses', reason('query_help_status'), { isNegatable: true, suggestions: STATUSES }),
  keyOf('code', 'names', reason('query_help_code'), {
    isNegatable: true,
    isOfRefusals: true,
    suggestions: FAILURE_CODES,
  }),
  keyOf('since', 'time', reason('query_help_since'), { isOfRefusals: true, suggestions: TIMES }),
  keyOf('until', 'time', reason('query_help_until'), { isOfRefusals: true, suggestions: TIMES }),
  keyOf('ran', 'duration', reason('query_help_ran'), { suggestions: DURATIONS }),
  keyOf('waited', 'duration', reason('query_help_waited'), { suggestions: DURATIONS }),
  keyOf('total', 'duration', reason('query_help_total'), { suggestions: DURATIONS }),
  keyOf('run', 'id', reason('query_help_run')),
  keyOf('trace', 'id', reason('query_help_trace'), { isOfRefusals: true }),
  keyOf('parent', 'id', reason('query_help_parent')),
  keyOf('client', 'id', reason('query_help_client')),
];

function keyOf(
  name: QueryKeyName,
  kind: QueryKeyKind,
  help: Reason,
  more: Partial<Pick<QueryKey, 'isNegatable' | 'isOfRefusals' | 'suggestions' | 'synonyms'>> = {},
): QueryKey {
  const operators = kind === 'duration' ? COMPARISONS : [':'];
  const defaults = { isNegatable: false, isOfRefusals: false, suggestions: [], synonyms: [] };
  return { name, kind, operators, help, ...defaults, ...more };
}

const BY_NAME: ReadonlyMap<string, QueryKey> = new Map(CALL_QUERY_KEYS.map((key) => [key.name, key]));

export function queryKey(name: string): QueryKey | undefined {
  return BY_NAME.get(name);
}
