import type { NoParams, ReasonView, Sentences } from './reason.ts';

/** Why the operation of an HTTP API fails. */
export interface OpenApiFailures {
  readonly openapi_argument: { readonly argument: string; readonly problem: readonly ReasonView[] };
  readonly openapi_value_missing: NoParams;
  readonly openapi_value_empty: NoParams;
  readonly openapi_value_dots: NoParams;
  readonly openapi_value_surrogate: NoParams;
  readonly openapi_value_header: NoParams;
  readonly openapi_value_delimiter: { readonly character: string; readonly style: string };
  readonly openapi_value_base64: NoParams;
  readonly openapi_value_not_text: { readonly mediaType: string };
  readonly openapi_value_not_object: { readonly mediaType: string };
  readonly openapi_path_dots: { readonly path: string };
  readonly openapi_placeholder_unknown: { readonly path: string; readonly name: string };
  readonly openapi_body_of_get: { readonly method: string };
  readonly openapi_header_invalid: { readonly name: string };
}

export const OPENAPI_FAILURES: Sentences<OpenApiFailures> = {
  openapi_argument: ({ argument, problem }) => `${argument} ${problem}`,
  openapi_value_missing: () => 'is required',
  openapi_value_empty: () => 'must not be empty, because it is part of the path',
  openapi_value_dots: () => 'must not be or contain the path segment "." or ".."',
  openapi_value_surrogate: () => 'contains half of a surrogate pair, which is not valid Unicode',
  openapi_value_header: () => 'is sent as a header: it must contain visible ASCII characters only',
  openapi_value_delimiter: ({ character, style }) =>
    `has an item that contains "${character}", which separates the items (style ${style})`,
  openapi_value_base64: () => 'must be base64',
  openapi_value_not_text: ({ mediaType }) => `must be a string: it is sent as ${mediaType}`,
  openapi_value_not_object: ({ mediaType }) => `must be an object: it is sent as ${mediaType}`,
  openapi_path_dots: ({ path }) =>
    `the path ${path} would have a segment "." or "..", which leads to another path`,
  openapi_placeholder_unknown: ({ path, name }) =>
    `the description declares no parameter for {${name}} in ${path}`,
  openapi_body_of_get: ({ method }) => `a ${method} request cannot have a body`,
  openapi_header_invalid: ({ name }) =>
    `the header ${name} is not valid: a name has no spaces, and a value has visible ASCII characters only`,
};
