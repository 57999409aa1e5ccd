import type { NoParams, ReasonView, Sentences } from './reason.ts';

/** Why an OpenAPI description cannot be used, or one of its operations is no tool. */
export interface OpenApiProblems {
  readonly description_over_bytes: { readonly bytes: number };
  readonly description_unreadable: { readonly error: string };
  readonly description_too_deep: { readonly levels: number };
  readonly description_many_values: { readonly count: number };
  readonly description_many_operations: { readonly count: number };
  readonly description_not_openapi: NoParams;
  readonly description_swagger: { readonly version: string };
  readonly description_version: { readonly version: string };
  /** `pattern`: for `tools` in the settings. */
  readonly operation_rejected: { readonly problem: readonly ReasonView[]; readonly pattern: string };
  readonly operation_over_count: { readonly count: number; readonly pattern: string };
  readonly operation_name_long: {
    readonly characters: number;
    readonly most: number;
    readonly pattern: string;
  };
  readonly operation_name_taken: {
    readonly name: string;
    readonly operation: string;
    readonly other: string;
    readonly pattern: string;
  };
  readonly operation_reference_outside: { readonly reference: string };
  readonly operation_reference_missing: { readonly reference: string };
  readonly operation_member_invalid: { readonly place: string };
  readonly operation_method: { readonly method: string };
  readonly operation_body_types: { readonly types: string };
}

export const OPENAPI_PROBLEMS: Sentences<OpenApiProblems> = {
  description_over_bytes: ({ bytes }) => `the OpenAPI description is larger than ${bytes} bytes`,
  description_unreadable: ({ error }) => `the OpenAPI description is neither JSON nor YAML: ${error}`,
  description_too_deep: ({ levels }) => `the OpenAPI description is nested deeper than ${levels} levels`,
  description_many_values: ({ count }) =>
    `the OpenAPI description has more than ${count} values; YAML aliases count as what they stand for`,
  description_many_operations: ({ count }) => `the OpenAPI description has more than ${count} operations`,
  description_not_openapi: () =>
    'this is no OpenAPI description: it must be an object with a member `openapi`, such as "3.1.0"',
  description_swagger: ({ version }) =>
    `this is a Swagger ${version} description; convert it to OpenAPI 3 first, for example with \`npx swagger2openapi\``,
  description_version: ({ version }) =>
    `OpenAPI ${version} is not supported; supported are the versions 3.0.x and 3.1.x`,
  operation_rejected: ({ problem, pattern }) => `${problem}; to leave it out, add "${pattern}" to \`tools\``,
  operation_over_count: ({ count, pattern }) =>
    `${count} operations are offered already; select fewer with \`tools\`, such as ["${pattern}"]`,
  operation_name_long: ({ characters, most, pattern }) =>
    `its tool name has ${characters} characters, and a name may have ${most}; give it a shorter operationId, or leave it out with "${pattern}" in \`tools\``,
  operation_name_taken: ({ name, operation, other, pattern }) =>
    `${operation} and ${other} both have the tool name ${name}; to offer ${operation} instead, add "${pattern}" to \`tools\``,
  operation_reference_outside: ({ reference }) =>
    `it uses the reference ${reference}, which points outside the description and is never fetched; bundle the description into one file`,
  operation_reference_missing: ({ reference }) =>
    `it uses the reference ${reference}, which points to nothing`,
  operation_member_invalid: ({ place }) => `${place} is not what OpenAPI requires there`,
  operation_method: ({ method }) => `the method ${method} is not supported`,
  operation_body_types: ({ types }) =>
    `its body has the media type ${types}; supported are JSON, forms, text and types whose schema is binary`,
};
