import { reason } from '@patchboard/wire';
import { argumentProblem } from './argument-problem.ts';
import type { OperationParameter } from './operation.ts';
import { contentText, parameterValue, type ParameterValue } from './parameter-values.ts';
import { queryPairs } from './query-parameters.ts';

/** Headers that OpenAPI ignores as parameters, and those that belong to the connection. */
const NOT_PARAMETERS: ReadonlySet<string> = new Set([
  'accept',
  'content-type',
  'authorization',
  'connection',
  'content-length',
  'cookie',
  'expect',
  'host',
  'keep-alive',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

export function isHeaderParameter(name: string): boolean {
  return !NOT_PARAMETERS.has(name.toLowerCase()) && isHeaderName(name);
}

/** A token of RFC 9110. */
export function isHeaderName(name: string): boolean {
  return /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(name);
}

/** Visible ASCII, spaces and tabs: no value can begin another header. */
export function isHeaderValue(value: string): boolean {
  return /^[\t\x20-\x7e]*$/.test(value);
}

/** Style `simple`. Values are not percent-encoded, as OpenAPI 3.1.1 recommends. Returns null if there is none. */
export function headerValue(parameter: OperationParameter, value: unknown): string | null {
  const { argument, explode, mediaType } = parameter;
  if (value === undefined || value === null) return null;
  const given: ParameterValue =
    mediaType === undefined
      ? parameterValue(value)
      : { kind: 'primitive', text: contentText(value, mediaType) };
  const text = joined(given, explode, argument);
  if (text !== null && !isHeaderValue(text)) throw argumentProblem(argument, reason('openapi_value_header'));
  return text;
}

function joined(value: ParameterValue, explode: boolean, argument: string): string | null {
  if (value.kind === 'none') return null;
  if (value.kind === 'primitive') return value.text;
  const parts = value.kind === 'array' ? value.items : value.members.flat();
  if (parts.some((part) => part.includes(',')))
    throw argumentProblem(argument, reason('openapi_value_delimiter', { character: ',', style: 'simple' }));
  if (value.kind === 'array' || !explode) return parts.join(',');
  return value.members.map(([member, text]) => `${member}=${text}`).join(',');
}

/** Style `form`, encoded as in a query: no value can begin another cookie. Exploded values become several cookies. */
export function cookiePairs(parameter: OperationParameter, value: unknown): string[] {
  return queryPairs({ ...parameter, allowReserved: false }, value);
}
