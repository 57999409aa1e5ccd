import { reason } from '@patchboard/wire';
import { operationProblem } from './argument-problem.ts';
import { NO_ADDITIONS, type Additions } from './build-request.ts';
import type { OpenApiSettings, SecuritySettings } from './openapi-settings.ts';
import type { Operation, SecurityRequirement } from './operation.ts';

/** Gets access tokens for a scheme whose settings are of kind `oauth`. */
export interface SchemeTokens {
  token(requirement: SecurityRequirement, signal: AbortSignal): Promise<string>;
}

export interface Credentials {
  readonly additions: Additions;
  /** The access tokens in it, with the names of their schemes. */
  readonly tokens: readonly { readonly scheme: string; readonly token: string }[];
}

const NONE: Credentials = { additions: NO_ADDITIONS, tokens: [] };

/**
 * Returns the credentials of the first alternative whose schemes are all configured; none if the operation needs none.
 * Throws `ToolFailure`, not started, if it needs some and no alternative is configured.
 */
export async function credentialsFor(
  operation: Operation,
  settings: OpenApiSettings,
  tokens: SchemeTokens,
  signal: AbortSignal,
): Promise<Credentials> {
  const alternatives = operation.security.filter((alternative) => alternative.length > 0);
  const usable = alternatives.find((alternative) =>
    alternative.every((requirement) => problemWith(requirement, settings) === null),
  );
  if (usable !== undefined) return await credentialsOf(usable, settings, tokens, signal);
  const [first] = alternatives;
  if (first === undefined || alternatives.length < operation.security.length) return NONE;
  throw missing(operation, first, settings);
}

function missing(
  { method, path }: Operation,
  alternative: readonly SecurityRequirement[],
  settings: OpenApiSettings,
): Error {
  const unmet = alternative.find((requirement) => problemWith(requirement, settings) !== null);
  const name = unmet?.name ?? '';
  const params = { method, path, scheme: name, key: `openapi.${settings.name}.security.${name}` };
  if (unmet === undefined || problemWith(unmet, settings) !== 'unsupported')
    return operationProblem(
      reason('openapi_security_missing', { ...params, wanted: unmet === undefined ? '' : wantedBy(unmet) }),
    );
  return operationProblem(reason('openapi_security_unsupported', params));
}

type Problem = 'missing' | 'unsupported';

/** Returns null if the settings have what the scheme needs, or a header that does the same. */
function problemWith({ name, scheme }: SecurityRequirement, settings: OpenApiSettings): Problem | null {
  const given = Object.hasOwn(settings.security, name) ? settings.security[name] : undefined;
  if (scheme.type === 'mutualTLS' || scheme.type === 'unknown') return 'unsupported';
  if (scheme.type === 'apiKey') {
    const isHeader = scheme.in === 'header' && hasHeader(settings, scheme.name);
    return given?.kind === 'value' || (given === undefined && isHeader) ? null : 'missing';
  }
  if (given === undefined) return hasHeader(settings, 'authorization') ? null : 'missing';
  if (scheme.type === 'openIdConnect') return given.kind === 'oauth' ? null : 'missing';
  if (scheme.type === 'http' && scheme.scheme === 'basic') return given.kind === 'basic' ? null : 'missing';
  return given.kind === 'basic' ? 'missing' : null;
}

/** The members of the settings that the scheme needs. */
function wantedBy({ scheme }: SecurityRequirement): string {
  if (scheme.type === 'openIdConnect') return 'client_credentials or private_key_jwt';
  if (scheme.type === 'http' && scheme.scheme === 'basic') return 'username_env and password_env';
  if (scheme.type === 'oauth2') return 'client_credentials, private_key_jwt or value_env';
  return 'value_env';
}

function hasHeader({ headers }: OpenApiSettings, name: string): boolean {
  return Object.keys(headers).some((each) => each.toLowerCase() === name.toLowerCase());
}

async function credentialsOf(
  alternative: readonly SecurityRequirement[],
  settings: OpenApiSettings,
  tokens: SchemeTokens,
  signal: AbortSignal,
): Promise<Credentials> {
  const headers: Record<string, string> = {};
  const query: Record<string, string> = {};
  const cookies: Record<string, string> = {};
  const used: { readonly scheme: string; readonly token: string }[] = [];
  for (const requirement of alternative) {
    const { name, scheme } = requirement;
    const given = settings.security[name];
    // A configured header is sent with every request.
    if (given === undefined) continue;
    const value = given.kind === 'oauth' ? await tokens.token(requirement, signal) : valueOf(given);
    if (given.kind === 'oauth') used.push({ scheme: name, token: value });
    if (scheme.type === 'apiKey')
      ({ header: headers, query, cookie: cookies })[scheme.in][scheme.name] = value;
    else headers['authorization'] = `${schemeWord(scheme, given)} ${value}`;
  }
  return { additions: { headers, query, cookies }, tokens: used };
}

function valueOf(given: Exclude<SecuritySettings, { kind: 'oauth' }>): string {
  if (given.kind === 'value') return given.value;
  return Buffer.from(`${given.username}:${given.password}`, 'utf8').toString('base64');
}

function schemeWord(scheme: SecurityRequirement['scheme'], given: SecuritySettings): string {
  if (given.kind === 'basic') return 'Basic';
  return scheme.type === 'http' && scheme.scheme !== 'bearer' && given.kind === 'value'
    ? scheme.scheme
    : 'Bearer';
}
