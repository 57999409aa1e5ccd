import { isRecord } from '../core/json/is-record.ts';
/** What the value of a keyword must look like. */
export type KeywordShape =
  | 'any'
  | 'boolean'
  | 'count'
  | 'format'
  | 'number'
  | 'pattern'
  | 'positive'
  | 'strings'
  | 'strings-by-name'
  | 'type'
  | 'values';

/** Keywords that check the value itself. `$ref` and the like are handled apart. */
export const CHECKS: ReadonlyMap<string, KeywordShape> = new Map<string, KeywordShape>([
  ['type', 'type'],
  ['enum', 'values'],
  ['const', 'any'],
  ['minimum', 'number'],
  ['maximum', 'number'],
  ['exclusiveMinimum', 'number'],
  ['exclusiveMaximum', 'number'],
  ['multipleOf', 'positive'],
  ['minLength', 'count'],
  ['maxLength', 'count'],
  ['pattern', 'pattern'],
  ['format', 'format'],
  ['minItems', 'count'],
  ['maxItems', 'count'],
  ['uniqueItems', 'boolean'],
  ['minContains', 'count'],
  ['maxContains', 'count'],
  ['minProperties', 'count'],
  ['maxProperties', 'count'],
  ['required', 'strings'],
  ['dependentRequired', 'strings-by-name'],
]);

/** Whether a keyword that holds schemas applies them to the value itself or to something in it. */
export type Reach = 'here' | 'within';

export interface Applicator {
  readonly holds: 'one' | 'list' | 'by-name';
  readonly reach: Reach;
}

export const APPLICATORS: ReadonlyMap<string, Applicator> = new Map<string, Applicator>([
  ['allOf', { holds: 'list', reach: 'here' }],
  ['anyOf', { holds: 'list', reach: 'here' }],
  ['oneOf', { holds: 'list', reach: 'here' }],
  ['not', { holds: 'one', reach: 'here' }],
  ['if', { holds: 'one', reach: 'here' }],
  ['then', { holds: 'one', reach: 'here' }],
  ['else', { holds: 'one', reach: 'here' }],
  ['dependentSchemas', { holds: 'by-name', reach: 'here' }],
  ['properties', { holds: 'by-name', reach: 'within' }],
  ['prefixItems', { holds: 'list', reach: 'within' }],
  ['patternProperties', { holds: 'by-name', reach: 'within' }],
  ['additionalProperties', { holds: 'one', reach: 'within' }],
  ['propertyNames', { holds: 'one', reach: 'within' }],
  ['items', { holds: 'one', reach: 'within' }],
  ['contains', { holds: 'one', reach: 'within' }],
  ['unevaluatedProperties', { holds: 'one', reach: 'within' }],
  ['unevaluatedItems', { holds: 'one', reach: 'within' }],
]);

export const TYPES: ReadonlySet<unknown> = new Set([
  'array',
  'boolean',
  'integer',
  'null',
  'number',
  'object',
  'string',
]);

export type JsonObject = Readonly<Record<string, unknown>>;

/** Says what is wrong with the value of a check, or answers null. `pattern` and `format` need more than this. */
export function wrongShape(shape: KeywordShape, value: unknown): string | null {
  switch (shape) {
    case 'any':
      return null;
    case 'boolean':
      return typeof value === 'boolean' ? null : 'must be true or false';
    case 'count':
      return isCount(value) ? null : 'must be a whole number, 0 or more';
    case 'format':
    case 'pattern':
      return typeof value === 'string' ? null : 'must be a string';
    case 'number':
      return typeof value === 'number' ? null : 'must be a number';
    case 'positive':
      return typeof value === 'number' && value > 0 ? null : 'must be a number above 0';
    case 'strings':
      return isStrings(value) ? null : 'must be a list of strings';
    case 'strings-by-name':
      return isRecord(value) && Object.values(value).every(isStrings)
        ? null
        : 'must be an object of lists of strings';
    case 'type':
      return isType(value) ? null : `must be one of ${[...TYPES].join(', ')}, or a list of them`;
    case 'values':
      return Array.isArray(value) && value.length > 0 ? null : 'must be a list with at least one value';
  }
}

function isCount(value: unknown): boolean {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

function isStrings(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

function isType(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 && value.every((item) => TYPES.has(item)) : TYPES.has(value);
}
