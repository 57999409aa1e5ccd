import type { NoParams, ReasonView, Sentences } from './reason.ts';

/**
 * What a value in a document or an option must be, without its place. `value_problem` and `request_issue` add the place.
 * The values of tool calls have the codes of `SchemaIssues`.
 */
export interface ValueProblems {
  /** `found`: the value, or one of the codes `value_is_…`. */
  readonly value_problem: {
    readonly place: string;
    readonly problem: readonly ReasonView[];
    readonly found: readonly ReasonView[];
  };
  readonly at_place: { readonly place: string; readonly problem: readonly ReasonView[] };
  readonly value_is_list: NoParams;
  readonly value_is_object: NoParams;
  readonly value_is_function: NoParams;
  readonly value_not_in_list: {
    readonly place: string;
    readonly found: readonly ReasonView[];
    readonly suggestion: readonly ReasonView[];
  };
  readonly member_not_known: { readonly place: string; readonly suggestion: readonly ReasonView[] };
  readonly suggestion_one_of: { readonly names: string };
  readonly suggestion_known: { readonly names: string };
  readonly suggestion_nearest: { readonly name: string };
  readonly member_unknown: { readonly known: string };
  readonly must_be_boolean: NoParams;
  readonly must_be_number: NoParams;
  readonly must_be_count: NoParams;
  readonly must_be_positive: NoParams;
  readonly must_be_whole_number: { readonly least: number };
  readonly must_be_whole_from: { readonly least: number };
  readonly must_be_either: { readonly one: string; readonly other: string };
  readonly must_be_toggles: NoParams;
  readonly must_be_text: NoParams;
  readonly must_be_string: NoParams;
  readonly must_be_peer_id: NoParams;
  readonly must_be_folder: NoParams;
  readonly must_be_function: NoParams;
  readonly must_be_object: NoParams;
  readonly must_be_text_object: NoParams;
  readonly must_be_list: NoParams;
  readonly must_be_list_write: { readonly place: string; readonly item: string };
  readonly must_be_texts: NoParams;
  readonly must_be_strings: NoParams;
  readonly must_be_strings_by_name: NoParams;
  readonly must_be_values: NoParams;
  readonly must_be_types: { readonly types: string };
  readonly must_be_schemas: NoParams;
  readonly must_be_schemas_by_name: NoParams;
  readonly must_be_json_schema: NoParams;
  readonly must_be_zod_or_json_schema: NoParams;
  readonly must_be_abort_signal: NoParams;
  readonly must_be_tools: NoParams;
  readonly must_be_store: NoParams;
  readonly must_be_log: NoParams;
  readonly must_be_input_kinds: { readonly kinds: string };
  readonly must_be_board: NoParams;
  readonly must_be_dialect: NoParams;
}

export const VALUE_PROBLEMS: Sentences<ValueProblems> = {
  value_problem: ({ place, problem, found }) => `${place} ${problem}; it is ${found}`,
  at_place: ({ place, problem }) => `${place}: ${problem}`,
  value_is_list: () => 'a list',
  value_is_object: () => 'an object',
  value_is_function: () => 'a function',
  value_not_in_list: ({ place, found, suggestion }) => `${place} is ${found}; ${suggestion}`,
  member_not_known: ({ place, suggestion }) => `${place} is not known; ${suggestion}`,
  suggestion_one_of: ({ names }) => `it must be one of ${names}`,
  suggestion_known: ({ names }) => `known are ${names}`,
  suggestion_nearest: ({ name }) => `did you mean ${name}?`,
  member_unknown: ({ known }) => `is not known; known are ${known}`,
  must_be_boolean: () => 'must be true or false',
  must_be_number: () => 'must be a number',
  must_be_count: () => 'must be a whole number, 0 or more',
  must_be_positive: () => 'must be a number above 0',
  must_be_whole_number: ({ least }) => `must be a whole number of at least ${least}`,
  must_be_whole_from: ({ least }) => `must be a whole number from ${least}`,
  must_be_either: ({ one, other }) => `must be ${one} or ${other}`,
  must_be_toggles: () => 'must be an object with true or false for each tool',
  must_be_text: () => 'must be a text',
  must_be_string: () => 'must be a string',
  must_be_peer_id: () => 'must be 1 to 200 visible ASCII characters without spaces',
  must_be_folder: () => 'must be the path of a folder',
  must_be_function: () => 'must be a function',
  must_be_object: () => 'must be an object',
  must_be_text_object: () => 'must be an object of texts',
  must_be_list: () => 'must be a list',
  must_be_list_write: ({ place, item }) => `${place} must be a list: write ['${item}']`,
  must_be_texts: () => 'must be a list of texts',
  must_be_strings: () => 'must be a list of strings',
  must_be_strings_by_name: () => 'must be an object of lists of strings',
  must_be_values: () => 'must be a list with at least one value',
  must_be_types: ({ types }) => `must be one of ${types}, or a list of them`,
  must_be_schemas: () => 'must be a list with at least one schema',
  must_be_schemas_by_name: () => 'must be an object of schemas',
  must_be_json_schema: () => 'must be a JSON Schema',
  must_be_zod_or_json_schema: () => 'must be a zod schema or a JSON Schema',
  must_be_abort_signal: () => 'must be an AbortSignal',
  must_be_tools: () => 'must be a list of tools or a ToolRegistry',
  must_be_store: () => 'must be memory(), sqlite(folder) or postgres(url)',
  must_be_log: () => 'must have info, warn and error',
  must_be_input_kinds: ({ kinds }) => `must be true, false or a list of ${kinds}`,
  must_be_board: () => 'must be a board of createPatchboard()',
  must_be_dialect: () => "must be a dialect, such as textDialect('vcp')",
};
