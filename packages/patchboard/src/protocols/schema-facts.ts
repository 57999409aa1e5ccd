import type { JsonSchema } from '@patchboard/wire';
import { isRecord } from '../core/json/is-record.ts';
import { fragmentText, valueAt } from '../core/json/json-pointer.ts';

export type SchemaObject = Readonly<Record<string, unknown>>;
export type JsonType = 'string' | 'integer' | 'number' | 'boolean' | 'null' | 'array' | 'object';

/** The order in which types are tried; text fits everything, so it comes first. */
export const JSON_TYPES: readonly JsonType[] = [
  'string',
  'integer',
  'number',
  'boolean',
  'null',
  'array',
  'object',
];
const DEEPEST_REFERENCE = 16;

/** The types a value may have; null: any. */
export function typesIn(schema: unknown, root: JsonSchema, depth: number): JsonType[] | null {
  if (!isRecord(schema) || depth > DEEPEST_REFERENCE) return null;
  const { type, $ref: reference } = schema;
  if (typeof reference === 'string') return typesIn(referenced(root, reference), root, depth + 1);
  if (typeof type === 'string') return known([type]);
  if (Array.isArray(type)) return known(type);
  if ('const' in schema) return [typeOf(schema['const'])];
  if (Array.isArray(schema['enum'])) return schema['enum'].map(typeOf);
  const choices = schema['anyOf'] ?? schema['oneOf'];
  if (Array.isArray(choices)) return union(choices.map((choice) => typesIn(choice, root, depth + 1)));
  if (!Array.isArray(schema['allOf'])) return null;
  return (
    schema['allOf'].map((part) => typesIn(part, root, depth + 1)).find((types) => types !== null) ?? null
  );
}

function union(all: readonly (JsonType[] | null)[]): JsonType[] | null {
  const types = new Set<JsonType>();
  for (const each of all) {
    if (each === null) return null;
    for (const type of each) types.add(type);
  }
  return [...types];
}

function known(types: readonly unknown[]): JsonType[] {
  return JSON_TYPES.filter((type) => types.includes(type));
}

function typeOf(value: unknown): JsonType {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  const type = typeof value;
  return type === 'number' || type === 'boolean' || type === 'string' ? type : 'object';
}

/** A member of an enum that is no text is written as JSON. */
export function enumMember(schema: unknown, raw: string): { readonly value: unknown } | undefined {
  if (!isRecord(schema)) return undefined;
  const members: unknown = 'const' in schema ? [schema['const']] : schema['enum'];
  if (!Array.isArray(members) || members.includes(raw)) return undefined;
  const found = members.findIndex((member) => JSON.stringify(member) === raw.trim());
  return found === -1 ? undefined : { value: members[found] };
}

export function propertyOf(root: SchemaObject, name: string): unknown {
  const properties = root['properties'];
  if (isRecord(properties) && Object.hasOwn(properties, name)) return properties[name];
  return isRecord(root['additionalProperties']) ? root['additionalProperties'] : undefined;
}

export function requiredOf(root: SchemaObject): string[] {
  const required = root['required'];
  return Array.isArray(required) ? required.filter((name) => typeof name === 'string') : [];
}

/** Undefined: nothing that is written out in the same schema. */
export function referenced(root: JsonSchema, reference: string): unknown {
  if (reference !== '#' && !reference.startsWith('#/')) return undefined;
  return valueAt(root, fragmentText(reference.slice(1)));
}

export function describeTypes(types: readonly JsonType[] | null): string {
  return types === null ? 'any' : types.join('|');
}
