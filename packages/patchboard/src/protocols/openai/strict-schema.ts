import type { JsonSchema } from '@patchboard/wire';
import { isRecord, pointerTo } from '@patchboard/wire/json';
import type { SchemaObject } from '../schema-facts.ts';

/** A keyword that the vendor's strict mode does not support. The engine still validates it when the call is submitted. */
export interface LostKeyword {
  /** JSON pointer into the schema of the tool. */
  readonly path: string;
  readonly keyword: string;
}

/** `strict: false`: the structure cannot be expressed, so the original schema is sent as a hint. */
export interface StrictSchema {
  readonly strict: boolean;
  readonly schema: SchemaObject;
  /** With `strict: true`: constraints that were left out. With false: the keywords that prevented it. */
  readonly lost: readonly LostKeyword[];
}

const KEPT: ReadonlySet<string> = words(
  'type description title enum properties required items anyOf $ref $defs pattern format multipleOf maximum exclusiveMaximum minimum exclusiveMinimum minItems maxItems additionalProperties',
);
/** Keywords that are translated below. */
const TRANSLATED: ReadonlySet<string> = words('const definitions');
/** Keywords that do not restrict values. */
const SILENT: ReadonlySet<string> = words('$schema $id $comment examples deprecated readOnly writeOnly');
/** Keywords that cannot be left out without changing the meaning of the schema. */
const STRUCTURAL: ReadonlySet<string> = words(
  'allOf oneOf not if then else patternProperties prefixItems dependentSchemas unevaluatedProperties unevaluatedItems propertyNames $dynamicRef $anchor',
);
const FORMATS: ReadonlySet<string> = words('date-time time date duration email hostname ipv4 ipv6 uuid');
/** Limits of the vendor. */
const MAX_DEPTH = 10;
const MAX_PROPERTIES = 5000;
const MAX_ENUM_VALUES = 1000;

/**
 * Strict mode makes a model follow the schema, but requires that every property is required and every object closed.
 * Optional properties become nullable; `stripInjectedNulls` reverts this in the arguments.
 */
export function toStrictSchema(schema: JsonSchema): StrictSchema {
  const root: SchemaObject = typeof schema === 'boolean' ? {} : schema;
  const plain: SchemaObject = { ...root, type: 'object' };
  const work = new Conversion();
  const converted = work.object(plain, '', 0);
  const blocked = work.blocked();
  if (blocked.length > 0) return { strict: false, schema: plain, lost: blocked };
  return { strict: true, schema: converted, lost: work.lost };
}

class Conversion {
  readonly lost: LostKeyword[] = [];
  readonly #blocked: LostKeyword[] = [];
  #properties = 0;
  #enumValues = 0;

  blocked(): readonly LostKeyword[] {
    const tooMany: LostKeyword[] = [];
    if (this.#properties > MAX_PROPERTIES) tooMany.push({ path: '', keyword: 'properties' });
    if (this.#enumValues > MAX_ENUM_VALUES) tooMany.push({ path: '', keyword: 'enum' });
    return [...this.#blocked, ...tooMany];
  }

  schema(given: unknown, path: string, depth: number): SchemaObject {
    // Not `String` of an array: its items may have a `toString` that is not a function.
    if (!isRecord(given)) return this.#block(path, Array.isArray(given) ? 'array' : String(given));
    if (depth > MAX_DEPTH) return this.#block(path, 'depth');
    const type = typeOf(given);
    if (type === 'object' || 'properties' in given) return this.object(given, path, depth);
    const kept = this.#keywords(given, path);
    if (Array.isArray(given['anyOf']))
      kept['anyOf'] = given['anyOf'].map((each, at) => this.schema(each, `${path}/anyOf/${at}`, depth));
    if (type === 'array' && !('items' in given)) return this.#block(path, 'items');
    if ('items' in given) kept['items'] = this.schema(given['items'], `${path}/items`, depth + 1);
    if (type === undefined && !['anyOf', '$ref', 'enum', 'const'].some((key) => key in given))
      return this.#block(path, 'type');
    return kept;
  }

  object(given: SchemaObject, path: string, depth: number): SchemaObject {
    const kept = this.#keywords(given, path);
    const properties = isRecord(given['properties']) ? given['properties'] : {};
    const names = Object.keys(properties);
    // Without properties every object is valid, unless `additionalProperties` is false. At the top level, an empty
    // `properties` means that the tool has no parameters.
    const isListed = depth === 0 && isRecord(given['properties']);
    const isOpen = given['additionalProperties'] !== false && names.length === 0 && !isListed;
    if (isOpen || isRecord(given['additionalProperties']) || given['additionalProperties'] === true)
      return this.#block(path, 'additionalProperties');
    this.#properties += names.length;
    const required = Array.isArray(given['required']) ? given['required'] : [];
    kept['properties'] = Object.fromEntries(
      names.map((name) => {
        const place = pointerTo(`${path}/properties`, name);
        const converted = this.schema(properties[name], place, depth + 1);
        return [name, required.includes(name) ? converted : nullable(converted)];
      }),
    );
    for (const key of ['$defs', 'definitions']) {
      const defs = given[key];
      if (!isRecord(defs)) continue;
      kept[key] = Object.fromEntries(
        Object.entries(defs).map(([name, each]) => [
          name,
          this.schema(each, `${path}/${key}/${name}`, depth + 1),
        ]),
      );
    }
    return { ...kept, type: 'object', required: names, additionalProperties: false };
  }

  /** The keywords that strict mode supports, without those that are converted separately. */
  #keywords(given: SchemaObject, path: string): Record<string, unknown> {
    const kept: Record<string, unknown> = {};
    for (const [keyword, value] of Object.entries(given)) {
      if (STRUCTURAL.has(keyword)) this.#blocked.push({ path, keyword });
      else if (keyword === 'format' && !FORMATS.has(String(value))) this.lost.push({ path, keyword });
      else if (KEPT.has(keyword)) kept[keyword] = value;
      else if (!TRANSLATED.has(keyword) && !SILENT.has(keyword)) this.lost.push({ path, keyword });
    }
    if ('const' in given) kept['enum'] = [given['const']];
    if (Array.isArray(kept['enum'])) this.#enumValues += kept['enum'].length;
    return kept;
  }

  #block(path: string, keyword: string): SchemaObject {
    this.#blocked.push({ path, keyword });
    return {};
  }
}

function words(list: string): ReadonlySet<string> {
  return new Set(list.split(' '));
}

function typeOf({ type }: SchemaObject): unknown {
  if (!Array.isArray(type)) return type;
  const others = type.filter((each) => each !== 'null');
  return others.length === 1 ? others[0] : type;
}

/** Returns the schema with null allowed too. */
function nullable(schema: SchemaObject): SchemaObject {
  const { type } = schema;
  if (Array.isArray(schema['anyOf'])) {
    const choices = recordsOf(schema['anyOf']);
    if (choices.some((choice) => choice['type'] === 'null')) return schema;
    return { ...schema, anyOf: [...choices, { type: 'null' }] };
  }
  const withNull = Array.isArray(schema['enum']) ? { enum: [...new Set([...schema['enum'], null])] } : {};
  if (typeof type === 'string')
    return { ...schema, ...withNull, type: type === 'null' ? type : [type, 'null'] };
  if (Array.isArray(type))
    return { ...schema, ...withNull, type: type.includes('null') ? type : [...type, 'null'] };
  if ('enum' in schema) return { ...schema, ...withNull };
  const { description, ...rest } = schema;
  return { ...(description === undefined ? {} : { description }), anyOf: [rest, { type: 'null' }] };
}

function recordsOf(values: readonly unknown[]): SchemaObject[] {
  return values.filter(isRecord);
}
