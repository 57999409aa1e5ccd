import { resolve } from 'node:path';
import type { OpenApiSettings, SecuritySettings } from '../sources/openapi/openapi-settings.ts';
import type { ConfigValues } from './config-values.ts';
import { httpAddress, httpHeaders } from './http-address.ts';
import { oauthSettings } from './oauth-settings.ts';
import type { OpenApiConfig, SecurityConfig } from './upstream-config.ts';
import { commonSettings } from './upstream-settings.ts';

type Place = readonly string[];

/** Resolves the config of one HTTP API. Throws a `ConfigError`. */
export function openApiSettings(values: ConfigValues, name: string, config: OpenApiConfig): OpenApiSettings {
  const place = ['openapi', name];
  const security = Object.entries(config.security ?? {}).map(([scheme, one]): [string, SecuritySettings] => [
    scheme,
    securityOf(values, one, [...place, 'security', scheme]),
  ]);
  return {
    kind: 'openapi',
    ...commonSettings(name, config),
    description: descriptionOf(values, config.description, [...place, 'description']),
    server: config.server === undefined ? null : httpAddress(values, config.server, [...place, 'server']),
    headers: httpHeaders(values, config.headers, [...place, 'headers']),
    tools: config.tools ?? ['*'],
    security: Object.fromEntries(security),
  };
}

function descriptionOf(values: ConfigValues, text: string, place: Place): OpenApiSettings['description'] {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return { kind: 'url', url: httpAddress(values, text, place) };
  return { kind: 'file', path: resolve(values.folder, text) };
}

/** `config` was accepted by `upstreamProblems`, so it is of exactly one kind. */
function securityOf(values: ConfigValues, config: SecurityConfig, place: Place): SecuritySettings {
  const oauth = oauthSettings(values, config, place);
  if (oauth !== null) return { kind: 'oauth', oauth };
  const value = memberOf(values, config, 'value', place);
  if (value !== null) return { kind: 'value', value };
  const username = memberOf(values, config, 'username', place) ?? '';
  const password = memberOf(values, config, 'password', place) ?? '';
  // The header holds them in this form.
  values.addSecret(Buffer.from(`${username}:${password}`).toString('base64'));
  return { kind: 'basic', username, password };
}

function memberOf(
  values: ConfigValues,
  config: SecurityConfig,
  member: 'value' | 'username' | 'password',
  place: Place,
): string | null {
  const variable = config[`${member}_env`];
  if (variable !== undefined) return values.secretVariable(variable, [...place, `${member}_env`]);
  const text = config[member];
  if (text === undefined) return null;
  const filled = values.filled(text, [...place, member]);
  // A user name written in the config is public.
  if (member !== 'username') values.addSecret(filled);
  return filled;
}
