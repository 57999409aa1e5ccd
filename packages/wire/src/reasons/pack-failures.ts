import type { NoParams, ReasonView, Sentences } from './reason.ts';

/** Why a tool of the packs for calculation, databases, weather and heritage fails. */
export interface PackFailures {
  readonly at_position: { readonly problem: readonly ReasonView[]; readonly position: number };
  readonly expression_too_long: { readonly count: number };
  readonly expression_unexpected: { readonly found: string };
  readonly expression_unexpected_expected: { readonly found: string; readonly wanted: readonly ReasonView[] };
  readonly expression_ends: { readonly wanted: readonly ReasonView[] };
  readonly wanted_operator: NoParams;
  readonly wanted_operand: NoParams;
  readonly wanted_operator_or_close: { readonly position: number };
  readonly expression_needs_open: { readonly name: string };
  readonly expression_function_unknown: { readonly name: string };
  readonly expression_name_unknown: { readonly name: string };
  readonly expression_arguments_exact: {
    readonly name: string;
    readonly least: number;
    readonly count: number;
  };
  readonly expression_arguments_either: {
    readonly name: string;
    readonly least: number;
    readonly most: number;
    readonly count: number;
  };
  readonly expression_arguments_least: {
    readonly name: string;
    readonly least: number;
    readonly count: number;
  };
  readonly number_too_large: NoParams;
  readonly division_by_zero: NoParams;
  readonly factorial_range: { readonly value: number };
  readonly function_not_finite: { readonly call: string };
  readonly operator_not_real: { readonly sign: string };
  readonly operator_too_large: { readonly sign: string };
  readonly sql_with_nul: NoParams;
  readonly sql_not_terminated: NoParams;
  readonly sql_several: NoParams;
  readonly sql_empty: NoParams;
  readonly sql_not_reading: { readonly allowed: string; readonly found: string };
  readonly sql_unicode_escapes: NoParams;
  readonly sql_function_forbidden: { readonly name: string };
  readonly sql_table_forbidden: { readonly name: string };
  readonly sql_action_forbidden: { readonly action: string };
  readonly sql_params_by_name: { readonly names: string };
  readonly sql_params_count: { readonly wanted: number; readonly given: number };
  readonly sql_params_in_list: { readonly count: number };
  readonly sql_params_missing: { readonly names: string };
  readonly sql_params_form: NoParams;
  readonly sql_params_postgres: NoParams;
  readonly database_role_too_powerful: { readonly advice: string };
  readonly database_is_own_store: NoParams;
  readonly database_says: { readonly error: string };
  readonly database_unusable: { readonly error: string };
  readonly query_over_memory: NoParams;
  readonly query_process_ended: { readonly error: string };
  readonly server_stopping: NoParams;
  readonly weather_other_time: { readonly words: string };
  readonly weather_without_place: NoParams;
  readonly weather_place_unknown: { readonly place: string };
  /** `why` says the same as `error` in codes; it is absent in records of an older version. */
  readonly weather_unusable: { readonly error: string; readonly why?: readonly ReasonView[] };
  readonly weather_status: { readonly status: number };
  readonly weather_no_response_in_time: NoParams;
  readonly weather_response_too_large: { readonly bytes: number };
  readonly weather_response_not_json: NoParams;
  readonly weather_places_not_object: NoParams;
  readonly weather_places_not_list: NoParams;
  readonly weather_place_not_object: NoParams;
  readonly weather_place_incomplete: NoParams;
  readonly weather_current_missing: NoParams;
  readonly weather_current_incomplete: NoParams;
  readonly heritage_site_needed: { readonly tenant: string };
  readonly heritage_prompt_unknown: { readonly npc: string; readonly type: string };
  readonly heritage_profile_unknown: { readonly npc: string };
  readonly heritage_version_unknown: { readonly npc: string; readonly version: string };
  readonly heritage_site_unknown: { readonly site: string };
  readonly heritage_busy: { readonly error: string };
  readonly heritage_not_searchable: { readonly error: readonly ReasonView[] };
  readonly heritage_closed: NoParams;
}

export const PACK_FAILURES: Sentences<PackFailures> = {
  at_position: ({ problem, position }) => `${problem} at position ${position}`,
  expression_too_long: ({ count }) => `the expression is longer than ${count} characters`,
  expression_unexpected: ({ found }) => `unexpected ${found}`,
  expression_unexpected_expected: ({ found, wanted }) => `unexpected '${found}', expected ${wanted},`,
  expression_ends: ({ wanted }) => `unexpected end, expected ${wanted},`,
  wanted_operator: () => 'an operator',
  wanted_operand: () => "a number, a name or '('",
  wanted_operator_or_close: ({ position }) => `an operator or the ')' for position ${position}`,
  expression_needs_open: ({ name }) => `expected '(' after ${name}`,
  expression_function_unknown: ({ name }) => `unknown function '${name}'`,
  expression_name_unknown: ({ name }) => `unknown name '${name}'`,
  expression_arguments_exact: ({ name, least, count }) =>
    `${name} takes ${least} ${least === 1 ? 'argument' : 'arguments'}, not ${count},`,
  expression_arguments_either: ({ name, least, most, count }) =>
    `${name} takes ${least} or ${most} arguments, not ${count},`,
  expression_arguments_least: ({ name, least, count }) =>
    `${name} takes ${least} or more arguments, not ${count},`,
  number_too_large: () => 'a number too large to hold',
  division_by_zero: () => 'division by zero',
  factorial_range: ({ value }) => `factorial needs a whole number from 0 to 170, not ${value},`,
  function_not_finite: ({ call }) => `${call} has no finite real value`,
  operator_not_real: ({ sign }) => `'${sign}' has no real value`,
  operator_too_large: ({ sign }) => `the result of '${sign}' is too large`,
  sql_with_nul: () => 'the statement contains a NUL character',
  sql_not_terminated: () => 'a quoted text or comment in the statement is not terminated',
  sql_several: () => 'only one statement may be run at a time',
  sql_empty: () => 'there is no statement',
  sql_not_reading: ({ allowed, found }) => `only ${allowed} and EXPLAIN of these may be run, not ${found}`,
  sql_unicode_escapes: () => 'names and texts in Unicode escapes (U&) may not be used',
  sql_function_forbidden: ({ name }) => `the function ${name} may not be used`,
  sql_table_forbidden: ({ name }) => `the table ${name} may not be read`,
  sql_action_forbidden: ({ action }) => `${action} is not allowed: only reading is`,
  sql_params_by_name: ({ names }) => `the statement names ${names}: params must be an object with these`,
  sql_params_count: ({ wanted, given }) =>
    `the statement has ${wanted} placeholders, but params has ${given} values: give one for each`,
  sql_params_in_list: ({ count }) =>
    `the statement has ${count} placeholders without a name: params must be a list`,
  sql_params_missing: ({ names }) => `params has no value for ${names}`,
  sql_params_form: () => 'params must be a list or an object of texts, numbers, booleans and nulls',
  sql_params_postgres: () => 'PostgreSQL takes params as a list, for $1, $2 and so on',
  database_role_too_powerful: ({ advice }) => `the configured role may reach files of the server; ${advice}`,
  database_is_own_store: () => "the configured database is the platform's own store, which no tool may read",
  database_says: ({ error }) => `the database reported: ${error}`,
  database_unusable: ({ error }) => `the database cannot be used: ${error}`,
  query_over_memory: () => 'the query exceeds its memory limit',
  query_process_ended: ({ error }) => `the query process ended before it replied (${error})`,
  server_stopping: () => 'the server is stopping',
  weather_other_time: ({ words }) => `only the current weather is known, not that of "${words}"`,
  weather_without_place: () => 'the query names no place',
  weather_place_unknown: ({ place }) => `no place is known by the name "${place}"`,
  weather_unusable: (params) => `the weather service could not be used: ${params.why ?? params.error}`,
  weather_status: ({ status }) => `it responded with status ${status}`,
  weather_no_response_in_time: () => 'it did not respond in time',
  weather_response_too_large: ({ bytes }) => `its response is larger than ${bytes} bytes`,
  weather_response_not_json: () => 'its response is not JSON',
  weather_places_not_object: () => 'its list of places is not an object',
  weather_places_not_list: () => 'its list of places is not a list',
  weather_place_not_object: () => 'a place in its list is not an object',
  weather_place_incomplete: () => 'a place in its list lacks a name or coordinates',
  weather_current_missing: () => 'its response has no current weather',
  weather_current_incomplete: () => 'its response lacks the temperature or the weather code',
  heritage_site_needed: ({ tenant }) =>
    `the tool needs a site, and tenant ${tenant} does not have exactly one: call it over POST /api/tools/call, where X-Site-ID names the site`,
  heritage_prompt_unknown: ({ npc, type }) => `Active prompt not found: ${npc} (${type})`,
  heritage_profile_unknown: ({ npc }) => `NPC profile not found: ${npc}`,
  heritage_version_unknown: ({ npc, version }) => `NPC profile not found: ${npc} version ${version}`,
  heritage_site_unknown: ({ site }) => `Site not found: ${site}`,
  heritage_busy: ({ error }) => `the heritage data is busy: ${error}`,
  heritage_not_searchable: ({ error }) => `the heritage data cannot be searched: ${error}`,
  heritage_closed: () => 'the heritage data was closed',
};
