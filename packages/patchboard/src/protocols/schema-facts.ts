import type { JsonSchema } from '@patchboard/wire';
import { isRecord, fragmentText, valueAt } from '@patchboard/wire/json';

export type SchemaObject = Readonly<Record<string, unknown>>;
export type JsonType = 'string' | 'integer' | 'number' | 'boolean' | 'null' | 'array' | 'object';

/** The order in which types are tried. Every text is a string, so `string` comes first. */
export const JSON_TYPES: readonly JsonType[] = [
  'string',
  'integer',
  'number',
  'boolean',
  'null',
  'array',
  'object',
];

/** Maximum number of subschemas visited to find the types of one. */
const MAX_PARTS = 500;

type Types = readonly JsonType[] | null;

/** Cache by root and subschema: a reply may contain thousands of values for one subschema. */
const known: WeakMap<SchemaObject, WeakMap<SchemaObject, Types>> = new WeakMap();

/** The types a value may have; null: any. */
export function typesIn(schema: unknown, root: JsonSchema): Types {
  if (!isRecord(schema) || !isRecord(root)) return null;
  const parts = known.get(root) ?? new WeakMap<SchemaObject, Types>();
  known.set(root, parts);
  const before = parts.get(schema);
  if (before !== undefined) return before;
  const types = findTypes(schema, root, new Map());
  parts.set(schema, types);
  return types;
}

/** `seen`: results of this traversal, so that each subschema is visited once; null if in progress, which ends cycles. */
function findTypes(schema: unknown, root: JsonSchema, seen: Map<SchemaObject, Types>): Types {
  if (!isRecord(schema)) return null;
  const before = seen.get(schema);
  if (before !== undefined) return before;
  if (seen.size === MAX_PARTS) return null;
  seen.set(schema, null);
  const types = stated(schema, (part) => findTypes(part, root, seen), root);
  seen.set(schema, types);
  return types;
}

function stated(schema: SchemaObject, typesOf: (part: unknown) => Types, root: JsonSchema): Types {
  const { type, $ref: reference } = schema;
  if (typeof reference === 'string') return typesOf(referenced(root, reference));
  if (typeof type === 'string') return typesNamed([type]);
  if (Array.isArray(type)) return typesNamed(type);
  if ('const' in schema) return [typeOf(schema['const'])];
  if (Array.isArray(schema['enum'])) return schema['enum'].map(typeOf);
  const choices = schema['anyOf'] ?? schema['oneOf'];
  if (Array.isArray(choices)) return union(choices.map(typesOf));
  if (!Array.isArray(schema['allOf'])) return null;
  return schema['allOf'].map(typesOf).find((types) => types !== null) ?? null;
}

function union(all: readonly Types[]): Types {
  const types = new Set<JsonType>();
  for (const each of all) {
    if (each === null) return null;
    for (const type of each) types.add(type);
  }
  return [...types];
}

function typesNamed(types: readonly unknown[]): JsonType[] {
  return JSON_TYPES.filter((type) => types.includes(type));
}

function typeOf(value: unknown): JsonType {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  const type = typeof value;
  return type === 'number' || type === 'boolean' || type === 'string' ? type : 'object';
}

/** Finds the enum member whose JSON is the text, for members that are not strings. */
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

/** Resolves a reference within the same schema; undefined for any other reference. */
export function referenced(root: JsonSchema, reference: string): unknown {
  if (reference !== '#' && !reference.startsWith('#/')) return undefined;
  return valueAt(root, fragmentText(reference.slice(1)));
}

export function describeTypes(types: readonly JsonType[] | null): string {
  return types === null ? 'any' : types.join('|');
}
