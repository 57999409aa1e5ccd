import type { JsonSchema } from '@patchboard/wire';
import { isRecord } from '@patchboard/wire/json';
import { requiredOf, typesIn, type SchemaObject } from '../schema-facts.ts';

const MAX_DEPTH = 64;

/**
 * In strict mode a model writes null for a property that it would omit. Removes such nulls: those of optional properties
 * whose schema does not allow null.
 */
export function stripInjectedNulls(schema: JsonSchema, args: unknown): unknown {
  return typeof schema === 'boolean' ? args : strip(schema, args, schema, 0);
}

function strip(schema: unknown, value: unknown, root: SchemaObject, depth: number): unknown {
  if (depth > MAX_DEPTH || !isRecord(schema)) return value;
  if (Array.isArray(value)) return value.map((each) => strip(schema['items'], each, root, depth + 1));
  if (!isRecord(value)) return value;
  const properties = isRecord(schema['properties']) ? schema['properties'] : {};
  const required = requiredOf(schema);
  const kept = Object.entries(value).filter(
    ([name, each]) =>
      each !== null ||
      !Object.hasOwn(properties, name) ||
      required.includes(name) ||
      allowsNull(properties[name], root),
  );
  return Object.fromEntries(
    kept.map(([name, each]) => [
      name,
      Object.hasOwn(properties, name) ? strip(properties[name], each, root, depth + 1) : each,
    ]),
  );
}

function allowsNull(schema: unknown, root: SchemaObject): boolean {
  const types = typesIn(schema, root);
  return types === null || types.includes('null');
}
