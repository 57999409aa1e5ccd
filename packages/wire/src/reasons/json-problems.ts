import type { NoParams, ReasonView, Sentences } from './reason.ts';

/** Why a text is not accepted as JSON. */
export interface JsonProblems {
  readonly json_key_forbidden: { readonly key: string };
  readonly json_prototype_forbidden: NoParams;
  readonly json_key_twice: { readonly key: string };
  readonly json_too_many_values: { readonly count: number };
  readonly json_too_deep: { readonly depth: number };
  readonly json_control_character: NoParams;
  readonly json_string_unended: NoParams;
  readonly json_bad_escape: NoParams;
  readonly json_half_surrogate: NoParams;
  readonly json_leading_zero: NoParams;
  readonly json_number_too_large: NoParams;
  readonly json_number_loses_digits: NoParams;
  /** `wanted`: one of the `json_wanted_` codes. */
  readonly json_text_ends: { readonly wanted: readonly ReasonView[] };
  readonly json_unexpected: { readonly found: string; readonly wanted: readonly ReasonView[] };
  readonly json_wanted_end: NoParams;
  readonly json_wanted_comma: { readonly closer: string };
  readonly json_wanted_key: NoParams;
  readonly json_wanted_colon: NoParams;
  readonly json_wanted_value: NoParams;
  readonly json_wanted_digit: NoParams;
  readonly json_not_object: NoParams;
  readonly json_arguments_not_object: NoParams;
  readonly json_at_column: { readonly problem: readonly ReasonView[]; readonly column: number };
  readonly json_at_line: {
    readonly problem: readonly ReasonView[];
    readonly line: number;
    readonly column: number;
  };
}

export const JSON_PROBLEMS: Sentences<JsonProblems> = {
  json_key_forbidden: ({ key }) => `the key "${key}" is not allowed`,
  json_prototype_forbidden: () => 'the key "prototype" under "constructor" is not allowed',
  json_key_twice: ({ key }) => `the key ${key} appears twice in one object`,
  json_too_many_values: ({ count }) => `more than ${count} values`,
  json_too_deep: ({ depth }) => `nested more than ${depth} deep`,
  json_control_character: () => 'a control character in a string must be escaped',
  json_string_unended: () => 'the text ends inside a string',
  json_bad_escape: () => 'a string contains an invalid escape after a backslash',
  json_half_surrogate: () => 'half of a surrogate pair: it is no character, and cannot be stored as UTF-8',
  json_leading_zero: () => 'a number must not start with 0',
  json_number_too_large: () => 'a number too large to hold: send it as a string',
  json_number_loses_digits: () => 'a whole number that would lose digits: send it as a string',
  json_text_ends: ({ wanted }) => `the text ends where ${wanted} should be`,
  json_unexpected: ({ found, wanted }) => `${found} where ${wanted} should be`,
  json_wanted_end: () => 'the end of the text',
  json_wanted_comma: ({ closer }) => `"," or "${closer}"`,
  json_wanted_key: () => 'a key in double quotes',
  json_wanted_colon: () => '":"',
  json_wanted_value: () => 'a value',
  json_wanted_digit: () => 'a digit',
  json_not_object: () => 'it is no object',
  json_arguments_not_object: () => 'they must be an object',
  json_at_column: ({ problem, column }) => `${problem} at column ${column}`,
  json_at_line: ({ problem, line, column }) => `${problem} at line ${line}, column ${column}`,
};
