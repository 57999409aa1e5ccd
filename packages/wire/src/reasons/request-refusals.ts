import type { NoParams, ReasonView, Sentences } from './reason.ts';

/** Why a request was refused before it reached a call: who asks, and what the request is. */
export interface RequestRefusals {
  readonly key_unknown: { readonly id: string };
  readonly key_secret_unknown: NoParams;
  readonly key_expired: NoParams;
  readonly key_mistyped: NoParams;
  readonly key_of_others: NoParams;
  readonly key_name_reserved: { readonly name: string };
  readonly key_for_other_tenant: { readonly own: string; readonly tenant: string };
  readonly key_scopes_not_held: { readonly scopes: string };
  readonly key_for_itself_only: { readonly kind: string; readonly id: string };
  readonly key_outlives_maker: { readonly at: string };
  readonly key_not_revocable: { readonly reasons: readonly ReasonView[] };
  readonly key_expiry_past: NoParams;
  readonly key_expiry_far: NoParams;
  readonly local_mode_has_keys: { readonly count: number };
  readonly name_of_operator: { readonly name: string };
  readonly claim_unusable: { readonly claim: string };
  readonly claim_expiry: NoParams;
  readonly grant_unknown: { readonly id: string };
  readonly grant_without_test: { readonly tests: string };
  readonly policy_version_unknown: { readonly version: number; readonly current: number };
  readonly policy_version_differs: { readonly version: number; readonly expected: number };
  readonly credential_forwarded: { readonly header: string };
  readonly credential_header_twice: { readonly header: string };
  readonly credential_form: NoParams;
  readonly credential_revoked: NoParams;
  readonly credential_names_other: { readonly header: string };
  readonly credential_other_tenant: { readonly tenant: string };
  readonly credential_other_client: { readonly client: string };
  readonly credential_other_agent: { readonly agent: string };
  readonly credential_not_operator: NoParams;
  readonly scope_not_local: { readonly scope: string };
  readonly scope_missing: { readonly scope: string };
  readonly token_expired: NoParams;
  readonly token_not_accepted: { readonly error: string };
  readonly token_keys_unavailable: { readonly error: string };
  readonly operator_token_wrong: NoParams;
  readonly operator_token_guessed: NoParams;
  readonly login_token_spent: NoParams;
  readonly ticket_spent: NoParams;
  readonly internal_key_unknown: NoParams;
  readonly route_unknown: { readonly method: string; readonly path: string };
  readonly jwt_issuer_missing: NoParams;
  readonly route_takes_methods: { readonly path: string; readonly methods: string; readonly method: string };
  readonly body_over_limit: { readonly bytes: number };
  readonly body_empty: NoParams;
  readonly body_missing: NoParams;
  readonly body_of_no_json: NoParams;
  readonly mcp_tools_pattern: { readonly pattern: string };
  readonly body_not_utf8: NoParams;
  readonly body_length_differs: NoParams;
  readonly body_encoded: { readonly encoding: string };
  readonly body_bad_json: {
    readonly problem: readonly ReasonView[];
    readonly line: number;
    readonly column: number;
  };
  readonly url_bad_escape: NoParams;
  readonly url_part_too_long: { readonly characters: number };
  readonly url_unreadable: NoParams;
  readonly host_not_served: { readonly host: string };
  readonly host_twice: NoParams;
  readonly origin_not_taken: { readonly origin: string };
  readonly site_not_taken: NoParams;
  readonly event_streams_of_credential: { readonly count: number };
  readonly event_streams_of_server: { readonly count: number };
  readonly idempotency_keys_differ: NoParams;
  readonly reply_too_many_calls: { readonly count: number; readonly most: number };
  readonly in_reply: { readonly problem: readonly ReasonView[] };
  readonly site_unknown: { readonly tenant: string; readonly site: string };
}

export const REQUEST_REFUSALS: Sentences<RequestRefusals> = {
  key_unknown: ({ id }) => `no such key: ${id}`,
  key_secret_unknown: () => 'no key has this secret: it was revoked, or another server made it',
  key_expired: () => 'the key has expired',
  key_mistyped: () => 'this is not a key of this server: it is mistyped or truncated',
  key_of_others: () => 'this is not a key of this server',
  key_name_reserved: ({ name }) => `the name ${name} is taken: it is that of the operator token`,
  key_for_other_tenant: ({ own, tenant }) =>
    `a credential of tenant ${own} cannot make a key for tenant ${tenant}`,
  key_scopes_not_held: ({ scopes }) => `your credential lacks ${scopes}, so it cannot make a key with it`,
  key_for_itself_only: ({ kind, id }) => `with a key of ${kind} ${id} you can make keys for ${id} only`,
  key_outlives_maker: ({ at }) => `your own key expires at ${at}; expires_at must be no later`,
  key_not_revocable: ({ reasons }) => `only a credential that could make this key can revoke it: ${reasons}`,
  key_expiry_past: () => 'expires_at is in the past',
  key_expiry_far: () => 'expires_at must be at most ten years ahead',
  local_mode_has_keys: ({ count }) => `local mode needs a store without keys, and there are ${count}`,
  name_of_operator: ({ name }) => `the name ${name} is reserved for the operator`,
  claim_unusable: ({ claim }) => `the token's claim ${claim} has a value that this server does not accept`,
  claim_expiry: () =>
    "the token's claim exp cannot be used: it must be a whole number of seconds, at most ten years ahead",
  grant_unknown: ({ id }) => `no such grant: ${id}`,
  grant_without_test: ({ tests }) => `grant/when needs a condition with a test: ${tests}`,
  policy_version_unknown: ({ version, current }) =>
    `the policy has no version ${version}; the current one is ${current}`,
  policy_version_differs: ({ version, expected }) =>
    `the policy in force is version ${version}, not ${expected}; read it again, then send your change`,
  credential_forwarded: ({ header }) =>
    `a credential is needed: the header ${header} shows that a proxy forwarded the request, and local mode accepts direct requests only`,
  credential_header_twice: ({ header }) => `${header} was sent twice; send it once`,
  credential_form: () => 'Authorization must be: Bearer <key or token>',
  credential_revoked: () => 'the credential is no longer valid',
  credential_names_other: ({ header }) =>
    `${header} does not match the credential; omit it, or send the id that the credential is for`,
  credential_other_tenant: ({ tenant }) => `the credential is not for tenant ${tenant}`,
  credential_other_client: ({ client }) => `the credential is not for client ${client}`,
  credential_other_agent: ({ agent }) => `the credential is not for agent ${agent}`,
  credential_not_operator: () => 'this requires the operator token',
  scope_not_local: ({ scope }) => `the scope ${scope} needs a credential`,
  scope_missing: ({ scope }) => `the credential lacks the scope ${scope}`,
  token_expired: () => 'the token has expired',
  token_not_accepted: ({ error }) => `the token is not accepted: ${error}`,
  token_keys_unavailable: ({ error }) => `could not fetch the issuer's key set: ${error}`,
  operator_token_wrong: () => 'this is not the operator token of this server',
  operator_token_guessed: () => 'too many wrong operator tokens came from this address; try again later',
  login_token_spent: () =>
    'the token is not known, has expired or was used before; make another with patchboard open',
  ticket_spent: () => 'the ticket is not known, has expired or was used before',
  internal_key_unknown: () => 'the internal API key is not known',
  route_unknown: ({ method, path }) => `no such route: ${method} ${path}`,
  jwt_issuer_missing: () => 'this server has no OAuth issuer: auth.jwt is not set',
  route_takes_methods: ({ path, methods, method }) => `${path} takes ${methods}, not ${method}`,
  body_over_limit: ({ bytes }) => `the body is larger than the limit of ${bytes} bytes`,
  body_empty: () => 'the body is empty',
  body_missing: () => 'the route needs a body',
  body_of_no_json: () => 'the body is not JSON',
  mcp_tools_pattern: ({ pattern }) =>
    `query/tools: "${pattern}" is no tool name: use names with * for any characters, separated by commas; at most 100 names, and 100 * in all`,
  body_not_utf8: () => 'the body is not UTF-8',
  body_length_differs: () => 'the length of the body differs from the header Content-Length',
  body_encoded: ({ encoding }) => `Content-Encoding ${encoding} is not supported; send the body uncompressed`,
  body_bad_json: ({ problem, line, column }) =>
    `the body is not acceptable JSON: ${problem} (line ${line}, column ${column})`,
  url_bad_escape: () => 'the path of the URL has a % that begins no encoded character',
  url_part_too_long: ({ characters }) => `a part of the path is longer than ${characters} characters`,
  url_unreadable: () => 'the URL cannot be read',
  host_not_served: ({ host }) => `Host ${host} is not served here`,
  host_twice: () => 'the Host header is there more than once',
  origin_not_taken: ({ origin }) => `requests from origin ${origin} are not allowed`,
  site_not_taken: () => 'requests from another site are not allowed',
  event_streams_of_credential: ({ count }) =>
    `this credential has ${count} event streams open, which is the limit`,
  event_streams_of_server: ({ count }) =>
    `${count} event streams are open, which is the limit of this server; try again later`,
  idempotency_keys_differ: () =>
    'body/idempotency_key differs from the header Idempotency-Key: send one of them',
  reply_too_many_calls: ({ count, most }) =>
    `the reply requests ${count} calls, and the limit is ${most}: send it in parts`,
  in_reply: ({ problem }) => `reply, ${problem}`,
  site_unknown: ({ tenant, site }) => `tenant ${tenant} has no site ${site}`,
};
