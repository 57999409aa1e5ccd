import type { NoParams, ReasonView, Sentences } from './reason.ts';

type Limit = { readonly limit: number };

/** Why a value violates its schema, by keyword. `…_issue` adds the path of the value. */
export interface SchemaIssues {
  /** `path`: a JSON pointer into the arguments of a call. */
  readonly input_issue: { readonly path: string; readonly problem: readonly ReasonView[] };
  readonly output_issue: { readonly path: string; readonly problem: readonly ReasonView[] };
  readonly whole_output_issue: { readonly problem: readonly ReasonView[] };
  /** `place`: a part of a request, and a JSON pointer into it. */
  readonly request_issue: { readonly place: string; readonly problem: readonly ReasonView[] };
  readonly hook_input_issue: { readonly path: string; readonly problem: readonly ReasonView[] };
  /** `types`: with a bar between them. */
  readonly issue_type: { readonly types: string };
  readonly issue_enum: { readonly values: string };
  readonly issue_enum_long: NoParams;
  readonly issue_const: { readonly value: string };
  readonly issue_const_long: NoParams;
  readonly issue_minimum: Limit;
  readonly issue_maximum: Limit;
  readonly issue_exclusive_minimum: Limit;
  readonly issue_exclusive_maximum: Limit;
  readonly issue_multiple_of: { readonly unit: number };
  readonly issue_min_length: Limit;
  readonly issue_max_length: Limit;
  readonly issue_format: { readonly format: string };
  readonly issue_pattern: { readonly pattern: string };
  readonly issue_min_items: Limit;
  readonly issue_max_items: Limit;
  readonly issue_unique_items: NoParams;
  readonly issue_min_properties: Limit;
  readonly issue_max_properties: Limit;
  readonly issue_required: { readonly name: string };
  readonly issue_required_with: { readonly name: string; readonly other: string };
  readonly issue_additional_property: { readonly name: string };
  readonly issue_property_name: { readonly name: string };
  readonly issue_not_allowed: NoParams;
  readonly issue_any_of: NoParams;
  readonly issue_one_of: NoParams;
  readonly issue_one_of_several: NoParams;
  readonly issue_not: NoParams;
  readonly issue_min_contains: Limit;
  readonly issue_max_contains: Limit;
  readonly issue_too_costly: NoParams;
  readonly issue_unknown_member: NoParams;
  readonly issue_not_object: NoParams;
  readonly issue_not_time: NoParams;
  readonly issue_not_before_until: NoParams;
}

export const SCHEMA_ISSUES: Sentences<SchemaIssues> = {
  input_issue: ({ path, problem }) => `args${path} ${problem}`,
  output_issue: ({ path, problem }) => `${path} ${problem}`,
  whole_output_issue: ({ problem }) => `the result ${problem}`,
  request_issue: ({ place, problem }) => `${place} ${problem}`,
  hook_input_issue: ({ path, problem }) => `a hook changed the arguments so that args${path} ${problem}`,
  issue_type: ({ types }) => `must be ${types.split('|').join(' or ')}`,
  issue_enum: ({ values }) => `must be one of ${values}`,
  issue_enum_long: () => 'must be one of the values in the schema',
  issue_const: ({ value }) => `must be ${value}`,
  issue_const_long: () => 'must be the value in the schema',
  issue_minimum: ({ limit }) => `must be >= ${limit}`,
  issue_maximum: ({ limit }) => `must be <= ${limit}`,
  issue_exclusive_minimum: ({ limit }) => `must be > ${limit}`,
  issue_exclusive_maximum: ({ limit }) => `must be < ${limit}`,
  issue_multiple_of: ({ unit }) => `must be multiple of ${unit}`,
  issue_min_length: ({ limit }) => `must not have fewer than ${limit} characters`,
  issue_max_length: ({ limit }) => `must not have more than ${limit} characters`,
  issue_format: ({ format }) => `must match format ${JSON.stringify(format)}`,
  issue_pattern: ({ pattern }) => `must match pattern ${JSON.stringify(pattern)}`,
  issue_min_items: ({ limit }) => `must not have fewer than ${limit} items`,
  issue_max_items: ({ limit }) => `must not have more than ${limit} items`,
  issue_unique_items: () => 'must not have two equal items',
  issue_min_properties: ({ limit }) => `must not have fewer than ${limit} properties`,
  issue_max_properties: ({ limit }) => `must not have more than ${limit} properties`,
  issue_required: ({ name }) => `must have required property '${name}'`,
  issue_required_with: ({ name, other }) => `must have required property '${name}' when it has '${other}'`,
  issue_additional_property: ({ name }) => `must not have the property ${name}`,
  issue_property_name: ({ name }) => `must not have a property named ${name}`,
  issue_not_allowed: () => 'is not allowed',
  issue_any_of: () => 'must match a schema in anyOf',
  issue_one_of: () => 'must match exactly one schema in oneOf',
  issue_one_of_several: () => 'must match exactly one schema in oneOf, and matches several',
  issue_not: () => 'must not match the schema in not',
  issue_min_contains: ({ limit }) => `must contain at least ${limit} valid item(s)`,
  issue_max_contains: ({ limit }) => `must contain no more than ${limit} valid item(s)`,
  issue_too_costly: () => 'is too large or too deeply nested to be checked against this schema',
  issue_unknown_member: () => 'is not known here',
  issue_not_object: () => 'must be a JSON object',
  issue_not_time: () => 'must be RFC 3339 or epoch seconds',
  issue_not_before_until: () => 'must be before until, and in the past',
};
