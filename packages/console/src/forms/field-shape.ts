import type { JsonSchema } from '@patchboard/wire';
import {
  allowsNull,
  alternativesOf,
  asSchema,
  isSchema,
  merge,
  resolved,
  typesOf,
  withoutNull,
  type Schema,
} from './plain-schema.ts';

/** The kind of form control for a schema. */
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
  /** JSON text; undefined if none. */
  readonly defaultSource: string | undefined;
}

/** Returns the form control for a schema. References are resolved in `root`. */
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

/** The names of the members that have a field in the control. */
export function fieldsOf(control: Control): readonly string[] {
  return control.kind === 'object' ? control.properties.map(({ name }) => name) : [];
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
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

/** Names a variant by a property with a constant value, else by its type. */
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
