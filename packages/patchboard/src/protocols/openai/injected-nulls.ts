import type { JsonSchema } from '@patchboard/wire';
import { isRecord } from '../../core/json/is-record.ts';
import { requiredOf, typesIn, type SchemaObject } from '../schema-facts.ts';

const DEEPEST = 64;

/**
 * Strict mode makes a model write null for what it would rather leave out. Takes such nulls away again: where a
 * property is optional and the schema of the tool has no place for null.
 */
export function stripInjectedNulls(schema: JsonSchema, args: unknown): unknown {
  return typeof schema === 'boolean' ? args : strip(schema, args, schema, 0);
}

function strip(schema: unknown, value: unknown, root: SchemaObject, depth: number): unknown {
  if (depth > DEEPEST || !isRecord(schema)) return value;
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
