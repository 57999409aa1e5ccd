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
  readonly openapi_server_unknown: { readonly server: string; readonly key: string };
  readonly openapi_server_invalid: { readonly server: string; readonly key: string };
  readonly openapi_server_private: { readonly error: string; readonly key: string };
  readonly openapi_security_missing: {
    readonly method: string;
    readonly path: string;
    readonly scheme: string;
    readonly key: string;
    readonly wanted: string;
  };
  readonly openapi_security_unsupported: {
    readonly method: string;
    readonly path: string;
    readonly scheme: string;
  };
  readonly openapi_token_failed: { readonly scheme: string; readonly error: string };
  readonly openapi_retry_after: { readonly method: string; readonly path: string; readonly seconds: number };
  readonly openapi_status: { readonly method: string; readonly path: string; readonly status: string };
  readonly openapi_status_detail: {
    readonly method: string;
    readonly path: string;
    readonly status: string;
    readonly detail: string;
  };
  readonly openapi_redirect: {
    readonly method: string;
    readonly path: string;
    readonly status: string;
    readonly location: string;
  };
  readonly openapi_not_sent: { readonly method: string; readonly path: string; readonly error: string };
  readonly openapi_no_response: { readonly method: string; readonly path: string; readonly error: string };
  readonly openapi_response_not_json: { readonly mediaType: string };
  readonly openapi_response_too_large: {
    readonly method: string;
    readonly path: string;
    readonly bytes: number;
  };
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
  openapi_server_unknown: ({ server, key }) =>
    `the description has the server "${server}", which is no complete URL: set ${key}`,
  openapi_server_invalid: ({ server, key }) =>
    `the URL of server ${server} must begin with http: or https: and have no user name or password: set ${key}`,
  openapi_server_private: ({ error, key }) => `${error}: to allow this server, set ${key}`,
  openapi_security_missing: ({ method, path, scheme, key, wanted }) =>
    `${method} ${path} needs the security scheme ${scheme}: set ${key} with ${wanted}`,
  openapi_security_unsupported: ({ method, path, scheme }) =>
    `${method} ${path} needs the security scheme ${scheme}, whose type is not supported: send the credential in \`headers\` of the upstream`,
  openapi_token_failed: ({ scheme, error }) => `security scheme ${scheme}: ${error}`,
  openapi_retry_after: ({ method, path, seconds }) =>
    `${method} ${path} was not sent: the server accepts it again in ${seconds} s, after the deadline of this call`,
  openapi_status: ({ method, path, status }) => `${method} ${path} returned ${status}`,
  openapi_status_detail: ({ method, path, status, detail }) =>
    `${method} ${path} returned ${status}: ${detail}`,
  openapi_redirect: ({ method, path, status, location }) =>
    `${method} ${path} returned ${status} to ${location}, which is not followed`,
  openapi_not_sent: ({ method, path, error }) => `${method} ${path} was not sent: ${error}`,
  openapi_no_response: ({ method, path, error }) =>
    `${method} ${path} was sent and got no complete response: ${error}`,
  openapi_response_not_json: ({ mediaType }) =>
    `the response has the type ${mediaType} and is not valid JSON`,
  openapi_response_too_large: ({ method, path, bytes }) =>
    `the response of ${method} ${path} is larger than ${bytes} bytes`,
};
