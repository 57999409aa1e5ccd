import { isRecord } from '../is-record.ts';
import type { JsonObject } from './schema-applicators.ts';

/** Rewrites common keywords of older drafts and of OpenAPI 3.0 as keywords of 2020-12. */
export function toCurrentDraft(schema: JsonObject): JsonObject {
  const { items, additionalItems, dependencies, nullable, ...rest } = withNumericLimits(schema);
  return {
    ...rest,
    ...currentItems(items, additionalItems),
    ...currentDependencies(rest, dependencies),
    ...(nullable === true ? currentNullable(rest) : {}),
  };
}

/** Converts `exclusiveMinimum` and `exclusiveMaximum` of draft 4 and OpenAPI 3.0, which are booleans there. */
function withNumericLimits(schema: JsonObject): JsonObject {
  const { exclusiveMinimum: low, exclusiveMaximum: high } = schema;
  if (typeof low !== 'boolean' && typeof high !== 'boolean') return schema;
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, ...rest } = schema;
  return {
    ...rest,
    ...currentLimit({ plain: 'minimum', strict: 'exclusiveMinimum' }, minimum, exclusiveMinimum),
    ...currentLimit({ plain: 'maximum', strict: 'exclusiveMaximum' }, maximum, exclusiveMaximum),
  };
}

function currentLimit(
  names: { readonly plain: string; readonly strict: string },
  limit: unknown,
  exclusive: unknown,
): JsonObject {
  const isFlag = typeof exclusive === 'boolean';
  return {
    ...(limit === undefined ? {} : { [exclusive === true ? names.strict : names.plain]: limit }),
    ...(isFlag || exclusive === undefined ? {} : { [names.strict]: exclusive }),
  };
}

function currentItems(items: unknown, additionalItems: unknown): JsonObject {
  if (items === undefined) return {};
  if (!Array.isArray(items)) return { items };
  return {
    ...(items.length > 0 ? { prefixItems: items as unknown } : {}),
    ...(additionalItems === undefined ? {} : { items: additionalItems }),
  };
}

function currentDependencies(schema: JsonObject, dependencies: unknown): JsonObject {
  if (dependencies === undefined) return {};
  // Passed on unchanged, so that the check of `dependentSchemas` reports the wrong type.
  if (!isRecord(dependencies)) return { dependentSchemas: dependencies };
  const entries = Object.entries(dependencies);
  const required = entries.filter(([, value]) => Array.isArray(value));
  const schemas = entries.filter(([, value]) => !Array.isArray(value));
  return {
    ...(required.length > 0 ? { dependentRequired: merged(schema['dependentRequired'], required) } : {}),
    ...(schemas.length > 0 ? { dependentSchemas: merged(schema['dependentSchemas'], schemas) } : {}),
  };
}

function merged(current: unknown, entries: [string, unknown][]): JsonObject {
  return { ...Object.fromEntries(entries), ...(isRecord(current) ? current : {}) };
}

/** Converts `nullable` of OpenAPI 3.0. */
function currentNullable(schema: JsonObject): JsonObject {
  const { type } = schema;
  if (type === undefined) return {};
  const types: unknown[] = Array.isArray(type) ? type : [type];
  return { type: types.includes('null') ? types : [...types, 'null'] };
}
