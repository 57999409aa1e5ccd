import type { JsonSchema } from '@patchboard/wire';

export type Schema = Readonly<Record<string, unknown>>;

/** What kind of control a schema asks for. */
export type Control =
  | { readonly kind: 'object'; readonly properties: readonly Property[]; readonly more: JsonSchema }
  | { readonly kind: 'array'; readonly itemAt: (index: number) => JsonSchema }
  | { readonly kind: 'string'; readonly format: string; readonly isLong: boolean }
  | { readonly kind: 'number'; readonly isInteger: boolean }
  | { readonly kind: 'boolean' }
  | { readonly kind: 'choice'; readonly values: readonly unknown[]; readonly titles: readonly string[] }
  | { readonly kind: 'variants'; readonly variants: readonly { title: string; schema: JsonSchema }[] }
  | { readonly kind: 'any' };

export interface Property {
  readonly name: string;
  readonly schema: JsonSchema;
  readonly isRequired: boolean;
}

export interface FieldShape {
  readonly control: Control;
  readonly title: string;
  readonly description: string;
  readonly isNullable: boolean;
  /** JSON text; undefined: none. */
  readonly defaultSource: string | undefined;
}

/** Reads a schema as a form would. `root` is what its references point into. */
export function shapeOf(given: JsonSchema, root: JsonSchema): FieldShape {
  const schema = resolved(given, root, 0);
  const isNullable = allowsNull(schema, root);
  return {
    control: controlOf(withoutNull(schema, root), root),
    title: textOf(schema['title']),
    description: textOf(schema['description']),
    isNullable,
    defaultSource: schema['default'] === undefined ? undefined : JSON.stringify(schema['default']),
  };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

export function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function asSchema(value: unknown): JsonSchema {
  return typeof value === 'boolean' || isSchema(value) ? value : true;
}

const MAX_HOPS = 20;

/** References followed and `allOf` folded in, as far as a form needs it. */
function resolved(given: JsonSchema, root: JsonSchema, hops: number): Schema {
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

function merge(one: Schema, other: Schema): Schema {
  const both = { ...one, ...other };
  for (const name of ['properties', '$defs']) {
    if (isSchema(one[name]) && isSchema(other[name])) both[name] = { ...one[name], ...other[name] };
  }
  if (Array.isArray(one['required']) && Array.isArray(other['required'])) {
    both['required'] = [...one['required'], ...other['required']];
  }
  return both;
}

function typesOf(schema: Schema): readonly string[] {
  const { type } = schema;
  if (typeof type === 'string') return [type];
  return Array.isArray(type) ? type.filter((name) => typeof name === 'string') : [];
}

function alternativesOf(schema: Schema): readonly JsonSchema[] {
  const list = schema['oneOf'] ?? schema['anyOf'];
  return Array.isArray(list) ? list.map(asSchema) : [];
}

function isNullOnly(schema: JsonSchema, root: JsonSchema): boolean {
  const found = resolved(schema, root, 0);
  const types = typesOf(found);
  return (types.length === 1 && types[0] === 'null') || ('const' in found && found['const'] === null);
}

function allowsNull(schema: Schema, root: JsonSchema): boolean {
  if (schema['nullable'] === true || typesOf(schema).includes('null')) return true;
  if (Array.isArray(schema['enum']) && schema['enum'].includes(null)) return true;
  return alternativesOf(schema).some((alternative) => isNullOnly(alternative, root));
}

function withoutNull(schema: Schema, root: JsonSchema): Schema {
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

function controlOf(schema: Schema, root: JsonSchema): Control {
  if ('const' in schema) return choice([schema['const']]);
  if (Array.isArray(schema['enum'])) return choice(schema['enum'].filter((value) => value !== null));
  const alternatives = alternativesOf(schema).map((alternative) => resolved(alternative, root, 0));
  if (alternatives.length > 0) return variantsOf(schema, alternatives);
  const types = typesOf(schema);
  if (types.length > 1) {
    return {
      kind: 'variants',
      variants: types.map((type) => ({ title: type, schema: { ...schema, type } })),
    };
  }
  return controlOfType(types[0] ?? impliedType(schema), schema);
}

function choice(values: readonly unknown[], titles?: readonly string[]): Control {
  return { kind: 'choice', values, titles: titles ?? values.map((value) => labelOf(value)) };
}

function labelOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function variantsOf(schema: Schema, alternatives: readonly Schema[]): Control {
  if (alternatives.every((alternative) => 'const' in alternative)) {
    const titles = alternatives.map((one) => textOf(one['title']) || labelOf(one['const']));
    return choice(
      alternatives.map((one) => one['const']),
      titles,
    );
  }
  const {
    oneOf: _oneOf,
    anyOf: _anyOf,
    title: _title,
    description: _description,
    default: _default,
    ...own
  } = schema;
  return {
    kind: 'variants',
    variants: alternatives.map((one, index) => ({
      title: textOf(one['title']) || variantName(one) || `#${index + 1}`,
      schema: merge(own, one),
    })),
  };
}

/** A property with one value tells variants apart; else their type does. */
function variantName(schema: Schema): string {
  const properties = isSchema(schema['properties']) ? schema['properties'] : {};
  for (const [name, property] of Object.entries(properties)) {
    if (isSchema(property) && 'const' in property) return `${name}: ${labelOf(property['const'])}`;
  }
  return typesOf(schema).join(' | ') || impliedType(schema);
}

function impliedType(schema: Schema): string {
  if ('properties' in schema || 'additionalProperties' in schema || 'required' in schema) return 'object';
  return 'items' in schema || 'prefixItems' in schema ? 'array' : '';
}

const LONG_TEXT = 300;

function controlOfType(type: string, schema: Schema): Control {
  switch (type) {
    case 'object':
      return objectControl(schema);
    case 'array':
      return { kind: 'array', itemAt: (index) => itemSchema(schema, index) };
    case 'string': {
      const max = schema['maxLength'];
      const isMedia = typeof schema['contentMediaType'] === 'string';
      const isLong = isMedia || (typeof max === 'number' && max > LONG_TEXT);
      return { kind: 'string', format: textOf(schema['format']), isLong };
    }
    case 'integer':
    case 'number':
      return { kind: 'number', isInteger: type === 'integer' };
    case 'boolean':
      return { kind: 'boolean' };
    case 'null':
      return choice([null]);
    default:
      return { kind: 'any' };
  }
}

function objectControl(schema: Schema): Control {
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  const properties = isSchema(schema['properties']) ? schema['properties'] : {};
  return {
    kind: 'object',
    properties: Object.entries(properties).map(([name, property]) => ({
      name,
      schema: asSchema(property),
      isRequired: required.includes(name),
    })),
    more: asSchema(schema['additionalProperties'] ?? true),
  };
}

function itemSchema(schema: Schema, index: number): JsonSchema {
  const prefix = schema['prefixItems'];
  if (Array.isArray(prefix) && index < prefix.length) return asSchema(prefix[index]);
  return asSchema(schema['items'] ?? true);
}

/** JSON text to begin with where a value is wanted and none is there. */
export function startOf(schema: JsonSchema, root: JsonSchema): string {
  const { control, defaultSource } = shapeOf(schema, root);
  if (defaultSource !== undefined) return defaultSource;
  switch (control.kind) {
    case 'object':
      return JSON.stringify(Object.fromEntries(fixedProperties(control.properties, root)));
    case 'array':
      return '[]';
    case 'string':
      return '""';
    case 'number':
      return '0';
    case 'boolean':
      return 'false';
    case 'choice':
      return JSON.stringify(control.values[0] ?? null);
    case 'variants':
      return startOf(control.variants[0]?.schema ?? true, root);
    case 'any':
      return 'null';
  }
}

/** Required properties that can have one value only: nobody should have to type them. */
function fixedProperties(properties: readonly Property[], root: JsonSchema): [string, unknown][] {
  return properties.flatMap(({ name, schema, isRequired }): [string, unknown][] => {
    const { control } = shapeOf(schema, root);
    const isFixed = control.kind === 'choice' && control.values.length === 1;
    return isFixed && isRequired ? [[name, control.values[0]]] : [];
  });
}
