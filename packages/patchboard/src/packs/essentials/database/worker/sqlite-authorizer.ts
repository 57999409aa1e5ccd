import type { Reason } from '@patchboard/wire';
import { constants } from 'node:sqlite';

/** Functions that read only their arguments, and cannot write, load code or access another file. */
const FUNCTIONS: ReadonlySet<string> = new Set(
  `abs acos acosh asin asinh atan atan2 atanh avg bm25 ceil ceiling char coalesce concat concat_ws cos cosh count
  cume_dist current_date current_time current_timestamp date datetime degrees dense_rank exp first_value floor format
  glob group_concat hex highlight if ifnull iif instr json json_array json_array_length json_error_position
  json_extract json_group_array json_group_object json_insert json_object json_patch json_pretty json_quote
  json_remove json_replace json_set json_type json_valid jsonb jsonb_array jsonb_extract jsonb_group_array
  jsonb_group_object jsonb_insert jsonb_object jsonb_patch jsonb_remove jsonb_replace jsonb_set -> ->> julianday lag
  last_value lead length like likelihood likely ln log log10 log2 lower ltrim match max median min mod nth_value ntile
  nullif octet_length percent_rank percentile percentile_cont percentile_disc pi pow power printf quote radians random
  randomblob rank regexp replace round row_number rtrim sign sin sinh snippet sqlite_version sqrt strftime string_agg
  substr substring sum tan tanh time timediff total trim trunc typeof unhex unicode unistr unixepoch unlikely upper
  zeroblob`.split(/\s+/),
);

/** Virtual tables that expose SQLite itself and its settings. */
const ENGINE_TABLES: ReadonlySet<string> = new Set(
  'bytecode dbstat fts3tokenize fts4aux fts5vocab sqlite_dbpage sqlite_memstat sqlite_stmt tables_used'.split(
    ' ',
  ),
);

const REFUSED_ACTIONS: ReadonlyMap<number, string> = new Map([
  [constants.SQLITE_ATTACH, 'ATTACH and VACUUM INTO'],
  [constants.SQLITE_DETACH, 'DETACH'],
  [constants.SQLITE_PRAGMA, 'PRAGMA'],
  [constants.SQLITE_TRANSACTION, 'transactions'],
  [constants.SQLITE_SAVEPOINT, 'transactions'],
  [constants.SQLITE_INSERT, 'INSERT'],
  [constants.SQLITE_UPDATE, 'UPDATE'],
  [constants.SQLITE_DELETE, 'DELETE'],
]);

export interface Authorizer {
  decide(action: number, first: string | null, second: string | null): number;
  /** Why the last statement was refused; undefined if it was not. */
  readonly refusal: Reason | undefined;
}

/** An allow list: SQLite calls `decide` for each action while it prepares a statement. */
export function readOnlyAuthorizer(): Authorizer {
  let refusal: Reason | undefined;
  return {
    get refusal() {
      return refusal;
    },
    decide(action, first, second) {
      const problem = problemWith(action, first ?? '', second ?? '');
      if (problem === undefined) return constants.SQLITE_OK;
      refusal ??= problem;
      return constants.SQLITE_DENY;
    },
  };
}

function problemWith(action: number, first: string, second: string): Reason | undefined {
  switch (action) {
    case constants.SQLITE_SELECT:
    case constants.SQLITE_RECURSIVE:
      return undefined;
    case constants.SQLITE_READ:
      if (!first.toLowerCase().startsWith('pragma_') && !ENGINE_TABLES.has(first.toLowerCase()))
        return undefined;
      return { code: 'sql_table_forbidden', params: { name: first } };
    case constants.SQLITE_FUNCTION:
      return FUNCTIONS.has(second.toLowerCase())
        ? undefined
        : { code: 'sql_function_forbidden', params: { name: second } };
    case constants.SQLITE_PRAGMA:
      // Full-text tables use it internally; it reads a counter and changes nothing.
      if (first === 'data_version' && second === '') return undefined;
      return { code: 'sql_action_forbidden', params: { action: 'PRAGMA' } };
    default:
      return {
        code: 'sql_action_forbidden',
        params: { action: REFUSED_ACTIONS.get(action) ?? 'changing the database' },
      };
  }
}
