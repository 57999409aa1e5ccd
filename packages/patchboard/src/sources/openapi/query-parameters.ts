import { reason } from '@patchboard/wire';
import { isRecord } from '@patchboard/wire/json';
import { argumentProblem } from './argument-problem.ts';
import { contentText, parameterValue, primitiveText, type ParameterValue } from './parameter-values.ts';
import { percentEncode, percentEncodeReserved } from './percent-encoding.ts';

/** What decides how a query parameter or the member of a form is written. */
export interface QueryParameter {
  readonly name: string;
  readonly argument: string;
  readonly style: string;
  readonly explode: boolean;
  readonly allowReserved: boolean;
  readonly mediaType?: string;
}

/** Returns the encoded `name=value` pairs of one parameter; none if it has no value. */
export function queryPairs(parameter: QueryParameter, value: unknown): string[] {
  if (value === undefined || value === null) return [];
  const { name, argument, style, mediaType } = parameter;
  const key = percentEncode(name, argument);
  if (mediaType !== undefined) return [`${key}=${encoder(parameter)(contentText(value, mediaType))}`];
  if (style === 'deepObject') return deepPairs(parameter, key, value);
  const given = parameterValue(value);
  if (parameter.explode) return explodedPairs(parameter, key, given);
  const joined = joinedValue(parameter, given);
  return joined === null ? [] : [`${key}=${joined}`];
}

/** `name=a&name=b`, and `member=value` for each member of an object. */
function explodedPairs(parameter: QueryParameter, key: string, value: ParameterValue): string[] {
  const encode = encoder(parameter);
  switch (value.kind) {
    case 'none':
      return [];
    case 'primitive':
      return [`${key}=${encode(value.text)}`];
    case 'array':
      return value.items.map((item) => `${key}=${encode(item)}`);
    case 'object':
      return value.members.map(
        ([member, text]) => `${percentEncode(member, parameter.argument)}=${encode(text)}`,
      );
  }
}

/** All items, or all keys and values, in one value with a delimiter. */
function joinedValue(parameter: QueryParameter, value: ParameterValue): string | null {
  if (value.kind === 'none') return null;
  if (value.kind === 'primitive') return encoder(parameter)(value.text);
  const items = value.kind === 'array' ? value.items : value.members.flat();
  const delimiter = { spaceDelimited: '%20', pipeDelimited: '%7C' }[parameter.style];
  const encode = encoder(parameter, ',');
  if (delimiter === undefined) return items.map(encode).join(',');
  // The encoded delimiter and an encoded item that contains it look the same to the receiver.
  const character = decodeURIComponent(delimiter);
  if (items.some((item) => item.includes(character)))
    throw argumentProblem(
      parameter.argument,
      reason('openapi_value_delimiter', { character, style: parameter.style }),
    );
  return items.map(encode).join(delimiter);
}

/** `name[member]=value`. OpenAPI leaves nested values open: members of members and indices get brackets of their own. */
function deepPairs(parameter: QueryParameter, key: string, value: unknown): string[] {
  if (value === undefined || value === null) return [];
  if (!isRecord(value) && !Array.isArray(value))
    return [`${key}=${encoder(parameter)(primitiveText(value))}`];
  return Object.entries(value).flatMap(([member, inner]) =>
    deepPairs(parameter, `${key}%5B${percentEncode(member, parameter.argument)}%5D`, inner),
  );
}

function encoder({ allowReserved, argument }: QueryParameter, delimiter?: string): (text: string) => string {
  return allowReserved
    ? (text) => percentEncodeReserved(text, argument, delimiter)
    : (text) => percentEncode(text, argument);
}
