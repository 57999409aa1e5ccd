import type { JsonSchema } from '@patchboard/wire';
import { isRecord } from '@patchboard/wire/json';
import { referenced } from '../protocols/schema-facts.ts';

/** Returns the schema of a property; undefined if the schema does not define it. */
export function propertySchema(schema: JsonSchema, name: string): unknown {
  const found = branches(schema, schema).flatMap((branch) => {
    const properties = branch['properties'];
    return isRecord(properties) && Object.hasOwn(properties, name) ? [properties[name]] : [];
  });
  return found[0];
}

/** Returns the schema of all items; undefined if there is none. */
export function itemsSchema(root: JsonSchema, schema: unknown): unknown {
  return branches(root, schema)
    .map((branch) => branch['items'])
    .find((items) => items !== undefined);
}

/** Returns a schema, by default the root, and all schemas that it includes by reference or combination. */
export function schemaBranches(
  root: JsonSchema,
  schema: unknown = root,
): readonly Readonly<Record<string, unknown>>[] {
  return branches(root, schema);
}

/** Returns a schema and all schemas that it includes by `$ref`, `allOf`, `anyOf` and `oneOf`, each once: they may refer to each other. */
function branches(root: JsonSchema, schema: unknown): Readonly<Record<string, unknown>>[] {
  const found = new Set<Readonly<Record<string, unknown>>>();
  const add = (part: unknown): void => {
    if (!isRecord(part) || found.has(part)) return;
    found.add(part);
    const { $ref: reference } = part;
    if (typeof reference === 'string') add(referenced(root, reference));
    for (const keyword of ['allOf', 'anyOf', 'oneOf']) {
      const alternatives = part[keyword];
      if (Array.isArray(alternatives)) for (const alternative of alternatives) add(alternative);
    }
  };
  add(schema);
  return [...found];
}
