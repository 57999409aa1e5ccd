import { reason } from '@patchboard/wire';
import { operationProblem } from './argument-problem.ts';
import type { OpenApiSettings } from './openapi-settings.ts';
import type { Operation } from './operation.ts';

/**
 * Returns the base URL of an operation: the configured server, else that of the description, resolved against the URL of
 * the description.
 */
export function serverUrl(settings: OpenApiSettings, operation: Operation): URL {
  const { name, description, server } = settings;
  const given = server ?? operation.server ?? '/';
  const base = description.kind === 'url' ? description.url : undefined;
  // A variable without a default stays in braces.
  if (!URL.canParse(given, base) || /[{}]/.test(given))
    throw operationProblem(
      reason('openapi_server_unknown', { server: given, key: `openapi.${name}.server` }),
    );
  const url = new URL(given, base);
  if (!/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '')
    throw operationProblem(
      reason('openapi_server_invalid', { server: url.host, key: `openapi.${name}.server` }),
    );
  return url;
}

/** The origins that the operator configured. Servers of a description that are not among them must be public. */
export function configuredOrigins(settings: OpenApiSettings): readonly string[] {
  const { description, server, security } = settings;
  const urls = [
    server,
    description.kind === 'url' ? description.url : null,
    ...Object.values(security).map((each) => (each.kind === 'oauth' ? each.oauth.tokenUrl : null)),
  ];
  const known = urls.filter((url) => url !== null && URL.canParse(url));
  return [...new Set(known.map((url) => new URL(url as string).origin))];
}
