import { reason, type Reason } from '../../reasons/reason-text.ts';
import { isRecord } from '../is-record.ts';

/** The type that the value of a keyword must have. */
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

/** Keywords that contain no schemas. `$ref` and similar keywords are handled separately. */
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

const TYPES: ReadonlySet<unknown> = new Set([
  'array',
  'boolean',
  'integer',
  'null',
  'number',
  'object',
  'string',
]);

/** Returns the problem with the value of a keyword, or null. `pattern` and `format` need further checks. */
export function wrongShape(shape: KeywordShape, value: unknown): Reason | null {
  switch (shape) {
    case 'any':
      return null;
    case 'boolean':
      return typeof value === 'boolean' ? null : reason('must_be_boolean');
    case 'count':
      return isCount(value) ? null : reason('must_be_count');
    case 'format':
    case 'pattern':
      return typeof value === 'string' ? null : reason('must_be_string');
    case 'number':
      return typeof value === 'number' ? null : reason('must_be_number');
    case 'positive':
      return typeof value === 'number' && value > 0 ? null : reason('must_be_positive');
    case 'strings':
      return isStrings(value) ? null : reason('must_be_strings');
    case 'strings-by-name':
      return isRecord(value) && Object.values(value).every(isStrings)
        ? null
        : reason('must_be_strings_by_name');
    case 'type':
      return isType(value) ? null : reason('must_be_types', { types: [...TYPES].join(', ') });
    case 'values':
      return Array.isArray(value) && value.length > 0 ? null : reason('must_be_values');
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
