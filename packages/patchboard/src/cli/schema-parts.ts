import type { JsonSchema } from '@patchboard/wire';
import { isRecord } from '@patchboard/wire/json';
import { referenced } from '../protocols/schema-facts.ts';

const MAX_DEPTH = 16;

/** Returns the schema of a property; undefined if the schema does not define it. */
export function propertySchema(schema: JsonSchema, name: string): unknown {
  const found = branches(schema, schema, 0).flatMap((branch) => {
    const properties = branch['properties'];
    return isRecord(properties) && Object.hasOwn(properties, name) ? [properties[name]] : [];
  });
  return found[0];
}

/** Returns the schema of all items; undefined if there is none. */
export function itemsSchema(root: JsonSchema, schema: unknown): unknown {
  return branches(root, schema, 0)
    .map((branch) => branch['items'])
    .find((items) => items !== undefined);
}

/** Returns a schema, by default the root, and all schemas that it includes by reference or combination. */
export function schemaBranches(
  root: JsonSchema,
  schema: unknown = root,
): readonly Readonly<Record<string, unknown>>[] {
  return branches(root, schema, 0);
}

/** Returns a schema and all schemas that it includes by `$ref`, `allOf`, `anyOf` and `oneOf`. */
function branches(root: JsonSchema, schema: unknown, depth: number): Readonly<Record<string, unknown>>[] {
  if (!isRecord(schema) || depth > MAX_DEPTH) return [];
  const reference = schema['$ref'];
  const parts: unknown[] = typeof reference === 'string' ? [referenced(root, reference)] : [];
  for (const keyword of ['allOf', 'anyOf', 'oneOf']) {
    const alternatives = schema[keyword];
    if (Array.isArray(alternatives)) parts.push(...(alternatives as unknown[]));
  }
  return [schema, ...parts.flatMap((part) => branches(root, part, depth + 1))];
}
