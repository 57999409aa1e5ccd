import type { JsonSchema } from '@patchboard/wire';

export const NAME: JsonSchema = { type: 'string', minLength: 1, maxLength: 100, pattern: '\\S' };
export const NAMES: JsonSchema = { type: 'array', items: NAME, maxItems: 20 };
export const TIME: JsonSchema = { type: 'string', format: 'date-time' };
export const TEXTS: JsonSchema = { type: 'array', items: { type: 'string' } };

export function textUpTo(maxLength: number, description: string): JsonSchema {
  return { type: 'string', minLength: 1, maxLength, pattern: '\\S', description };
}

export function described(schema: JsonSchema, description: string): JsonSchema {
  return { ...(schema as Record<string, unknown>), description };
}

export function nullable(type: string): JsonSchema {
  return { type: [type, 'null'] };
}

/**
 * The input schema of a tool. Members in `optional` may be absent or null, with the same meaning. Unknown members are
 * ignored.
 */
export function inputOf(
  properties: Record<string, JsonSchema>,
  optional: readonly string[] = [],
): JsonSchema {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  const members = Object.entries(properties).map(([name, schema]) => [
    name,
    required.includes(name) ? schema : orNull(schema),
  ]);
  return { type: 'object', properties: Object.fromEntries(members) as Record<string, JsonSchema>, required };
}

/** Keywords such as `minLength` do not apply to null, so extending `type` and `enum` is sufficient. */
function orNull(schema: JsonSchema): JsonSchema {
  const { type, enum: values, ...rest } = schema as { type?: string; enum?: readonly unknown[] };
  return {
    ...rest,
    ...(type === undefined ? {} : { type: [type, 'null'] }),
    ...(values === undefined ? {} : { enum: [...values, null] }),
  };
}

/** A closed object schema; members in `optional` may be absent. */
export function record(properties: Record<string, JsonSchema>, optional: readonly string[] = []): JsonSchema {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: 'object', properties, required, additionalProperties: false };
}
