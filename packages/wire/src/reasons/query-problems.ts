import type { NoParams, ReasonView, Sentences } from './reason.ts';

/** What is wrong with a query for calls, and the help for its keys. */
export interface QueryProblems {
  readonly query_at_column: { readonly column: number; readonly problem: readonly ReasonView[] };
  readonly query_too_long: { readonly characters: number };
  readonly query_too_many_terms: { readonly count: number };
  readonly query_key_unknown: { readonly key: string; readonly known: string };
  readonly query_key_unknown_near: { readonly key: string; readonly meant: string };
  readonly query_operator: { readonly key: string; readonly operator: string; readonly operators: string };
  readonly query_value_missing: { readonly key: string };
  readonly query_value_too_long: { readonly characters: number };
  readonly query_value_unknown: { readonly key: string; readonly value: string; readonly known: string };
  readonly query_value_unknown_near: { readonly key: string; readonly value: string; readonly meant: string };
  readonly query_single_value: { readonly key: string };
  readonly query_key_twice: { readonly key: string };
  readonly query_single_twice: { readonly key: string };
  readonly query_not_excludable: { readonly key: string };
  readonly query_text_excluded: NoParams;
  readonly query_text_without_words: NoParams;
  readonly query_too_many_wildcards: { readonly count: number };
  readonly query_not_duration: { readonly value: string };
  readonly query_not_time: { readonly value: string };
  readonly query_quote_unclosed: NoParams;
  readonly query_after_quote: NoParams;
  readonly query_state_expired: NoParams;
  readonly query_matches_nothing: NoParams;
  readonly query_refused_alone: NoParams;
  readonly query_refused_elsewhere: NoParams;
  readonly query_not_of_refused: NoParams;
  readonly query_not_of_metrics: NoParams;
  readonly query_help_tool: NoParams;
  readonly query_help_agent: NoParams;
  readonly query_help_state: NoParams;
  readonly query_help_status: NoParams;
  readonly query_help_code: NoParams;
  readonly query_help_run: NoParams;
  readonly query_help_trace: NoParams;
  readonly query_help_parent: NoParams;
  readonly query_help_client: NoParams;
  readonly query_help_since: NoParams;
  readonly query_help_until: NoParams;
  readonly query_help_waited: NoParams;
  readonly query_help_ran: NoParams;
  readonly query_help_total: NoParams;
}

export const QUERY_PROBLEMS: Sentences<QueryProblems> = {
  query_at_column: ({ column, problem }) => `column ${column}: ${problem}`,
  query_too_long: ({ characters }) => `a query has at most ${characters} characters`,
  query_too_many_terms: ({ count }) => `a query has at most ${count} terms`,
  query_key_unknown: ({ key, known }) =>
    `there is no key "${key}"; keys are ${known}; put text that contains ":", ">" or "<" in double quotes`,
  query_key_unknown_near: ({ key, meant }) => `there is no key "${key}"; did you mean ${meant}?`,
  query_operator: ({ key, operator, operators }) => `"${operator}" cannot follow ${key}; write ${operators}`,
  query_value_missing: ({ key }) => `${key} has no value`,
  query_value_too_long: ({ characters }) => `a value has at most ${characters} characters`,
  query_value_unknown: ({ key, value, known }) => `"${value}" is no ${key}; there are ${known}`,
  query_value_unknown_near: ({ key, value, meant }) => `"${value}" is no ${key}; did you mean ${meant}?`,
  query_single_value: ({ key }) =>
    `${key} takes one value; put a value that contains a comma in double quotes`,
  query_key_twice: ({ key }) => `${key} is given twice; for either value write ${key}:one,other`,
  query_single_twice: ({ key }) => `${key} is given twice; remove one`,
  query_not_excludable: ({ key }) =>
    `- cannot exclude values of ${key}; it can those of tool, agent, state, status and code`,
  query_text_excluded: () =>
    '- cannot exclude text; put text that begins with - in double quotes to search for it',
  query_text_without_words: () => 'the text has no letter and no digit, so nothing can be found by it',
  query_too_many_wildcards: ({ count }) => `a value has at most ${count} *`,
  query_not_duration: ({ value }) =>
    `"${value}" is no duration of at most ten years; write a number and a unit, such as 500ms, 2s, 1m30s, 1h or 7d`,
  query_not_time: ({ value }) =>
    `"${value}" is no time; write how long ago (15m, 1h, 7d), a date (2026-01-31) or RFC 3339 (2026-01-31T10:00:00Z)`,
  query_quote_unclosed: () => 'the double quote is not closed',
  query_after_quote: () => 'a space must follow the closing quote; inside quotes write \\" for a quote',
  query_state_expired: () =>
    'calls whose approval expired are denied, with a code: write code:approval_expired',
  query_matches_nothing: () => 'together with the terms before it, this term excludes every call',
  query_refused_alone: () =>
    'refused requests are no calls: state:refused cannot be excluded or combined with other states',
  query_refused_elsewhere: () =>
    'refused requests are no calls: use GET /v1/refused_calls for them, without this term',
  query_not_of_refused: () =>
    'refused requests have no such property; tool, agent, code, trace, since and until can select them',
  query_not_of_metrics: () => 'metrics can be selected by tool and agent only',
  query_help_tool: () => 'name of the tool; * stands for any characters',
  query_help_agent: () => 'agent that made the call; * stands for any characters',
  query_help_state: () => 'state of the call, or open, waiting, ended, refused',
  query_help_status: () => 'status of the call',
  query_help_code: () => 'failure code; * stands for any characters',
  query_help_run: () => 'id of the run',
  query_help_trace: () => 'id of the trace',
  query_help_parent: () => 'id of the call during which it was made',
  query_help_client: () => 'client that runs it, on one of its devices or by its queue',
  query_help_since: () => 'created since: 1h ago, a date, or RFC 3339',
  query_help_until: () => 'created before: 1h ago, a date, or RFC 3339',
  query_help_waited: () => 'time before it ran, such as >500ms',
  query_help_ran: () => 'time it ran, such as >2s',
  query_help_total: () => 'time from its creation to its end, such as >90s',
};
