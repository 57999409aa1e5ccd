import type { NoParams, ReasonView, Sentences } from './reason.ts';

/** What is wrong with a model's reply, a request in it, or an argument of a request. */
export interface ParseProblems {
  readonly value_unclosed: { readonly key: string; readonly mark: string };
  readonly some_value_unclosed: { readonly mark: string };
  readonly value_open_before_request: {
    readonly key: string;
    readonly start: string;
    readonly mark: string;
    readonly from: string;
    readonly to: string;
  };
  readonly some_value_open_before_request: {
    readonly start: string;
    readonly mark: string;
    readonly from: string;
    readonly to: string;
  };
  readonly request_nested: { readonly from: string; readonly to: string };
  readonly request_unended: { readonly mark: string };
  readonly request_runs_on: { readonly mark: string };
  readonly request_without_tool: { readonly field: string };
  readonly call_without_tool: NoParams;
  readonly batch_too_many: { readonly count: number };
  readonly batch_too_long: { readonly count: number };
  readonly field_given_twice: { readonly key: string };
  readonly argument_name_forbidden: { readonly key: string };
  readonly value_not_enclosed: { readonly key: string; readonly from: string; readonly to: string };
  readonly text_between_fields: { readonly field: string };
  readonly arguments_not_json: { readonly tool: string; readonly problem: readonly ReasonView[] };
  readonly reply_cut: { readonly tool: string };
  readonly reply_cut_unnamed: NoParams;
  readonly reply_without_content: NoParams;
  readonly reply_without_content_or_calls: NoParams;
  readonly reply_without_output: NoParams;
  readonly reply_item_without_type: NoParams;
  readonly reply_of_no_kind: NoParams;
  readonly reply_too_many_open: { readonly count: number };
  readonly reply_broken_off: { readonly error: string };
  readonly reply_not_json: { readonly problem: readonly ReasonView[] };
  readonly reply_event_unreadable: { readonly problem: readonly ReasonView[] };
  readonly problems_omitted: { readonly count: number };
  readonly tool_unknown: { readonly tool: string };
  readonly tool_unknown_near: { readonly tool: string; readonly meant: string };
  readonly agent_may_not_call: { readonly tool: string };
  readonly key_unused: { readonly key: string; readonly tool: string };
  readonly key_needs_argument: { readonly key: string };
  /** `problem`: one of the codes that follow. */
  readonly argument: { readonly name: string; readonly problem: readonly ReasonView[] };
  readonly argument_missing: NoParams;
  readonly argument_unknown: NoParams;
  readonly argument_type: { readonly type: string };
  readonly argument_json: { readonly type: string };
  readonly argument_bad_json: { readonly type: string; readonly problem: readonly ReasonView[] };
  readonly at_line: {
    readonly line: number;
    readonly column: number;
    readonly problem: readonly ReasonView[];
  };
}

export const PARSE_PROBLEMS: Sentences<ParseProblems> = {
  value_unclosed: ({ key, mark }) => `the value of "${key}" is not closed: write ${mark} right after it`,
  some_value_unclosed: ({ mark }) => `a value is not closed: write ${mark} right after it`,
  value_open_before_request: ({ key, start, mark, from, to }) =>
    `the value of "${key}" is not closed before ${start}: write ${mark} right after it, or write the value between ${from} and ${to} if the marker is part of it`,
  some_value_open_before_request: ({ start, mark, from, to }) =>
    `a value is not closed before ${start}: write ${mark} right after it, or write the value between ${from} and ${to} if the marker is part of it`,
  request_nested: ({ from, to }) =>
    `the request stands inside a value that is not closed, and is not run: close the value before it, or write the value between ${from} and ${to}`,
  request_unended: ({ mark }) => `the request has no end: write ${mark} after its last field`,
  request_runs_on: ({ mark }) =>
    `the request has no end before the next one begins: write ${mark} after its last field`,
  request_without_tool: ({ field }) => `the request names no tool: add ${field}`,
  call_without_tool: () => 'the call names no tool',
  batch_too_many: ({ count }) => `a batch has at most ${count} commands: write several requests`,
  batch_too_long: ({ count }) =>
    `the shared fields of a batch take at most ${count} characters over all commands: write several requests`,
  field_given_twice: ({ key }) => `"${key}" is given twice: write each field once`,
  argument_name_forbidden: ({ key }) => `"${key}" cannot be the name of an argument`,
  value_not_enclosed: ({ key, from, to }) => `the value of "${key}" must stand between ${from} and ${to}`,
  text_between_fields: ({ field }) => `only fields may stand in a request, each written as ${field}`,
  arguments_not_json: ({ tool, problem }) => `the arguments of ${tool} are no JSON object: ${problem}`,
  reply_cut: ({ tool }) => `the reply ended before the call of ${tool} was complete`,
  reply_cut_unnamed: () => 'the reply ended before the call of a tool was complete',
  reply_without_content: () => 'the reply is no message: it has no "content"',
  reply_without_content_or_calls: () => 'the reply is no message: it has neither "content" nor "tool_calls"',
  reply_without_output: () => 'the reply is no response: it has no "output"',
  reply_item_without_type: () => 'the reply is no response: every item of "output" must have a "type"',
  reply_of_no_kind: () =>
    'the reply is neither JSON nor an event stream with "data:" lines; what a model wrote as text is read with vcp',
  reply_too_many_open: ({ count }) => `more than ${count} calls of the reply have begun and not ended`,
  reply_broken_off: ({ error }) => `the model's server reported an error: ${error}`,
  reply_not_json: ({ problem }) => `the reply is no JSON: ${problem}`,
  reply_event_unreadable: ({ problem }) => `an event of the reply cannot be read: ${problem}`,
  problems_omitted: ({ count }) => `${count} more problems of this reply are not listed`,
  tool_unknown: ({ tool }) => `tool not found: ${tool}`,
  tool_unknown_near: ({ tool, meant }) => `tool not found: ${tool}; did you mean ${meant}?`,
  agent_may_not_call: ({ tool }) => `permission denied: this agent may not call ${tool}`,
  key_unused: ({ key, tool }) => `"${key}" is not used by ${tool}`,
  key_needs_argument: ({ key }) => `"${key}" is an argument only where the tool has one of that name`,
  argument: ({ name, problem }) => `"${name}" ${problem}`,
  argument_missing: () => 'is required',
  argument_unknown: () => 'is no argument of this tool',
  argument_type: ({ type }) => `must be ${withArticle(type)}`,
  argument_json: ({ type }) => `must be ${withArticle(type)}, written as JSON`,
  argument_bad_json: ({ type, problem }) => `must be ${withArticle(type)}, written as JSON: ${problem}`,
  at_line: ({ line, column, problem }) => `line ${line}, column ${column}: ${problem}`,
};

function withArticle(type: string): string {
  return 'aeiou'.includes(type.charAt(0)) ? `an ${type}` : `a ${type}`;
}
