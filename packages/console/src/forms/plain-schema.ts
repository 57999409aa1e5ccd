import type { JsonSchema } from '@patchboard/wire';

export type Schema = Readonly<Record<string, unknown>>;

export function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function asSchema(value: unknown): JsonSchema {
  return typeof value === 'boolean' || isSchema(value) ? value : true;
}

const MAX_HOPS = 20;

/** Resolves references and merges `allOf`, as far as a form needs it. */
export function resolved(given: JsonSchema, root: JsonSchema, hops: number): Schema {
  if (typeof given === 'boolean') return {};
  const { $ref, allOf, ...own } = given;
  let schema: Schema = own;
  if (typeof $ref === 'string' && hops < MAX_HOPS) {
    schema = merge(resolved(target($ref, root), root, hops + 1), schema);
  }
  if (Array.isArray(allOf) && hops < MAX_HOPS) {
    for (const part of allOf) schema = merge(schema, resolved(asSchema(part), root, hops + 1));
  }
  return schema;
}

function target(ref: string, root: JsonSchema): JsonSchema {
  if (!ref.startsWith('#')) return true;
  let at: unknown = root;
  for (const part of ref.slice(1).split('/').slice(1)) {
    const name = decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
    at = isSchema(at) || Array.isArray(at) ? (at as Schema)[name] : undefined;
  }
  return asSchema(at);
}

export function merge(one: Schema, other: Schema): Schema {
  const both = { ...one, ...other };
  for (const name of ['properties', '$defs']) {
    if (isSchema(one[name]) && isSchema(other[name])) both[name] = { ...one[name], ...other[name] };
  }
  if (Array.isArray(one['required']) && Array.isArray(other['required'])) {
    both['required'] = [...one['required'], ...other['required']];
  }
  return both;
}

export function typesOf(schema: Schema): readonly string[] {
  const { type } = schema;
  if (typeof type === 'string') return [type];
  return Array.isArray(type) ? type.filter((name) => typeof name === 'string') : [];
}

export function alternativesOf(schema: Schema): readonly JsonSchema[] {
  const list = schema['oneOf'] ?? schema['anyOf'];
  return Array.isArray(list) ? list.map(asSchema) : [];
}

function isNullOnly(schema: JsonSchema, root: JsonSchema): boolean {
  const found = resolved(schema, root, 0);
  const types = typesOf(found);
  return (types.length === 1 && types[0] === 'null') || ('const' in found && found['const'] === null);
}

export function allowsNull(schema: Schema, root: JsonSchema): boolean {
  if (schema['nullable'] === true || typesOf(schema).includes('null')) return true;
  if (Array.isArray(schema['enum']) && schema['enum'].includes(null)) return true;
  return alternativesOf(schema).some((alternative) => isNullOnly(alternative, root));
}

export function withoutNull(schema: Schema, root: JsonSchema): Schema {
  const alternatives = alternativesOf(schema);
  if (alternatives.length > 0) {
    const rest = alternatives.filter((alternative) => !isNullOnly(alternative, root));
    const { oneOf: _oneOf, anyOf: _anyOf, ...own } = schema;
    const [only] = rest;
    if (rest.length === 1 && only !== undefined) return merge(own, resolved(only, root, 0));
    return { ...own, anyOf: rest };
  }
  const types = typesOf(schema).filter((name) => name !== 'null');
  return types.length === typesOf(schema).length ? schema : { ...schema, type: types };
}
