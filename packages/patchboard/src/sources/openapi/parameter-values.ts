import { isRecord } from '@patchboard/wire/json';

/** The value of a parameter as the styles of OpenAPI distinguish it. `none`: the parameter is left out. */
export type ParameterValue =
  | { readonly kind: 'none' }
  | { readonly kind: 'primitive'; readonly text: string }
  | { readonly kind: 'array'; readonly items: readonly string[] }
  | { readonly kind: 'object'; readonly members: readonly (readonly [string, string])[] };

/** As in RFC 6570, null is undefined: it is left out, also as an item or member, and so is a list without items. */
export function parameterValue(value: unknown): ParameterValue {
  if (value === undefined || value === null) return { kind: 'none' };
  if (Array.isArray(value)) {
    const items = value.filter(isDefined).map(primitiveText);
    return items.length === 0 ? { kind: 'none' } : { kind: 'array', items };
  }
  if (!isRecord(value)) return { kind: 'primitive', text: primitiveText(value) };
  const members = Object.entries(value)
    .filter(([, member]) => isDefined(member))
    .map(([key, member]) => [key, primitiveText(member)] as const);
  return members.length === 0 ? { kind: 'none' } : { kind: 'object', members };
}

/** OpenAPI defines no style for a list or object inside another: it becomes JSON text. */
export function primitiveText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function isDefined(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** Whether a media type is JSON: `application/json`, `text/json`, or with the suffix `+json`. Wildcards count as JSON. */
export function isJsonMediaType(mediaType: string): boolean {
  return /^(?:(?:application|text)\/json|[^;\s]+\+json|\*\/\*|application\/\*)\s*(?:;|$)/i.test(
    mediaType.trim(),
  );
}

/** The value of a parameter that is described by `content`. JSON is pure ASCII, so that it also fits into a header. */
export function contentText(value: unknown, mediaType: string): string {
  return isJsonMediaType(mediaType) ? asciiJson(value) : primitiveText(value);
}

function asciiJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[\u007f-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
