import type { JsonSchema } from '@patchboard/wire';
import { isRecord } from '../core/json/is-record.ts';

export type JsonType = 'string' | 'number' | 'integer' | 'boolean' | 'null' | 'array' | 'object';

const MAX_DEPTH = 16;

/** The schema of one property, as far as it is written out; undefined when the schema does not name it. */
export function propertySchema(schema: JsonSchema, name: string): unknown {
  const found = branches(schema, schema, 0).flatMap((branch) => {
    const properties = branch['properties'];
    return isRecord(properties) && Object.hasOwn(properties, name) ? [properties[name]] : [];
  });
  return found[0];
}

/** Which types a schema lets through; empty when it does not say. */
export function typesOf(root: JsonSchema, schema: unknown): ReadonlySet<JsonType> {
  const types = new Set<JsonType>();
  for (const branch of branches(root, schema, 0)) {
    const named: unknown[] = [branch['type']].flat();
    for (const type of named) if (typeof type === 'string') types.add(type as JsonType);
    const fixed: unknown[] = 'const' in branch ? [branch['const']] : [];
    const listed: unknown[] = Array.isArray(branch['enum']) ? branch['enum'] : [];
    if (branch['type'] === undefined) for (const value of [...fixed, ...listed]) types.add(typeOf(value));
  }
  return types;
}

/** The schema of the items, where one is given for all of them. */
export function itemsSchema(root: JsonSchema, schema: unknown): unknown {
  return branches(root, schema, 0)
    .map((branch) => branch['items'])
    .find((items) => items !== undefined);
}

/** A schema and everything it is made of by reference and combination. */
function branches(root: JsonSchema, schema: unknown, depth: number): Readonly<Record<string, unknown>>[] {
  if (!isRecord(schema) || depth > MAX_DEPTH) return [];
  const reference = schema['$ref'];
  const parts: unknown[] = typeof reference === 'string' ? [resolve(root, reference)] : [];
  for (const keyword of ['allOf', 'anyOf', 'oneOf']) {
    const alternatives = schema[keyword];
    if (Array.isArray(alternatives)) parts.push(...(alternatives as unknown[]));
  }
  return [schema, ...parts.flatMap((part) => branches(root, part, depth + 1))];
}

function resolve(root: JsonSchema, reference: string): unknown {
  if (!reference.startsWith('#/')) return reference === '#' ? root : undefined;
  let found: unknown = root;
  for (const part of reference.slice(2).split('/')) {
    const name = decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
    found = isRecord(found) && Object.hasOwn(found, name) ? found[name] : undefined;
  }
  return found;
}

function typeOf(value: unknown): JsonType {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  const type = typeof value;
  return type === 'string' || type === 'number' || type === 'boolean' ? type : 'object';
}
