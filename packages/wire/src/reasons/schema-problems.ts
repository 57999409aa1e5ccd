import type { NoParams, ReasonView, Sentences } from './reason.ts';

/** Why a JSON Schema is not accepted. `schema_at` and `schema_at_top` add the place. */
export interface SchemaProblems {
  /** `pointer`: a JSON pointer into the schema. */
  readonly schema_at: { readonly pointer: string; readonly problem: readonly ReasonView[] };
  readonly schema_at_top: { readonly problem: readonly ReasonView[] };
  readonly schema_not_json: NoParams;
  readonly schema_not_schema: NoParams;
  readonly schema_inner_id: NoParams;
  readonly schema_over_bytes: { readonly bytes: number };
  readonly schema_too_deep: NoParams;
  readonly schema_many_properties: { readonly count: number };
  readonly schema_many_checks: { readonly count: number };
  readonly schema_many_references: { readonly count: number };
  readonly schema_many_patterns: { readonly count: number };
  readonly schema_large_patterns: NoParams;
  readonly schema_multiplies: NoParams;
  readonly schema_refers_to_itself: NoParams;
  readonly schema_reference_missing: { readonly reference: string };
  readonly schema_reference_outside: { readonly reference: string };
  readonly param_header_misplaced: NoParams;
  readonly param_header_not_token: NoParams;
  readonly param_header_not_primitive: NoParams;
  readonly param_header_twice: { readonly name: string };
  readonly hidden_characters: NoParams;
  readonly pattern_malformed: { readonly error: string };
  readonly pattern_too_long: { readonly characters: number };
  readonly pattern_repeats_too_often: NoParams;
  readonly pattern_too_large: NoParams;
  readonly pattern_too_deep: NoParams;
  readonly pattern_unsupported: NoParams;
}

export const SCHEMA_PROBLEMS: Sentences<SchemaProblems> = {
  schema_at: ({ pointer, problem }) => `at ${pointer}: ${problem}`,
  schema_at_top: ({ problem }) => `at the top: ${problem}`,
  schema_not_json: () => 'the schema must be a JSON object or a boolean',
  schema_not_schema: () => 'a schema must be an object or a boolean',
  schema_inner_id: () => 'an inner "$id" is not supported',
  schema_over_bytes: ({ bytes }) => `the schema is larger than ${bytes} bytes`,
  schema_too_deep: () => 'nested too deeply',
  schema_many_properties: ({ count }) => `the schema has more than ${count} properties`,
  schema_many_checks: ({ count }) => `the schema has more than ${count} keywords and subschemas`,
  schema_many_references: ({ count }) => `more than ${count} schemas are referred to`,
  schema_many_patterns: ({ count }) => `the schema has more than ${count} patterns`,
  schema_large_patterns: () => 'the patterns of the schema are too large',
  schema_multiplies: () => 'the schema checks one value too many times: its nested combinations multiply',
  schema_refers_to_itself: () => 'a reference leads back to itself without descending into the value',
  schema_reference_missing: ({ reference }) => `the reference ${reference} points to nothing`,
  schema_reference_outside: ({ reference }) =>
    `the reference ${reference} points outside the schema, which is never fetched`,
  param_header_misplaced: () =>
    'x-mcp-header is only allowed on a property that is reached through `properties` alone, not inside a list, a combination, a condition or a definition',
  param_header_not_token: () =>
    "x-mcp-header must be a part of a header name: one or more of A-Z a-z 0-9 ! # $ % & ' * + - . ^ _ ` | ~",
  param_header_not_primitive: () =>
    'x-mcp-header is only allowed on a property whose type is string, integer or boolean',
  param_header_twice: ({ name }) =>
    `another property has the x-mcp-header ${name}; header names that differ only in case are the same`,
  hidden_characters: () => 'holds control, bidirectional, zero-width or filler characters',
  pattern_malformed: ({ error }) => `is no regular expression: ${error}`,
  pattern_too_long: ({ characters }) => `is a pattern of more than ${characters} characters`,
  pattern_repeats_too_often: () =>
    'is too large a pattern: the product of nested repetition counts may be at most 1000',
  pattern_too_large: () => 'is too large a pattern: its compiled form exceeds the size limit',
  pattern_too_deep: () => 'is too large a pattern: it nests too deeply',
  pattern_unsupported: () =>
    'is a pattern that is not supported here: it uses look-around, a back-reference or another feature that linear-time matching lacks',
};
