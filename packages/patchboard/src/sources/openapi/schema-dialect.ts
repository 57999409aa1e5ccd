import { isRecord, APPLICATORS, toCurrentDraft, type JsonObject } from '@patchboard/wire/json';
import { hiddenNames, type Direction } from './hidden-properties.ts';
import { asBase64 } from './binary-schema.ts';
import type { Description } from './read-description.ts';

/** Keywords that say nothing about a value of a tool, or whose meaning is lost outside the description. */
const DROPPED: ReadonlySet<string> = new Set([
  'readOnly',
  'writeOnly',
  'example',
  'xml',
  'externalDocs',
  'definitions',
  'contentSchema',
]);
const REFERENCES: ReadonlySet<string> = new Set(['$ref', '$dynamicRef']);

export interface Dialect {
  readonly description: Description;
  readonly direction: Direction;
  /** Returns the reference that replaces one of the description. */
  readonly refer: (reference: string) => string;
  /** Whether the engine can match the pattern in linear time. */
  readonly canMatch: (pattern: string) => boolean;
}

/**
 * Converts a schema of OpenAPI 3.0 or 3.1 to JSON Schema 2020-12 for one direction, with all schemas in it. `hidden`:
 * properties that the schemas around this one remove.
 */
export function convertSchema(
  given: unknown,
  dialect: Dialect,
  hidden: ReadonlySet<string> = new Set(),
): unknown {
  // A wrong type is reported where the schema is compiled.
  if (!isRecord(given)) return given;
  const isOnlyReference = dialect.description.version === '3.0' && typeof given['$ref'] === 'string';
  const schema = isOnlyReference ? referenceOf(given) : given;
  const removed = new Set([...hidden, ...hiddenNames(schema, dialect)]);
  const current = asBase64(toCurrentDraft(withNull(schema)));
  const converted = Object.fromEntries(
    Object.entries(current)
      .filter(([keyword]) => isKept(keyword))
      .map(([keyword, value]) => [nameOf(keyword, current), convertKeyword(keyword, value, dialect, removed)])
      .filter(([, value]) => value !== undefined),
  ) as JsonObject;
  return nullableWhole(schema, withExamples(schema, converted, dialect.direction));
}

/** In OpenAPI 3.0 the members beside `$ref` have no effect. A description is kept for the reader. */
function referenceOf({ $ref, description }: JsonObject): JsonObject {
  return { $ref, ...(typeof description === 'string' ? { description } : {}) };
}

function isKept(keyword: string): boolean {
  if (keyword.startsWith('x-') || DROPPED.has(keyword)) return false;
  return !keyword.startsWith('$') || REFERENCES.has(keyword);
}

/**
 * A discriminator selects one schema, and the others may accept the value too: exactly one (`oneOf`) would refuse it.
 */
function nameOf(keyword: string, schema: JsonObject): string {
  const isSelected =
    keyword === 'oneOf' && isRecord(schema['discriminator']) && schema['anyOf'] === undefined;
  return isSelected ? 'anyOf' : keyword;
}

function convertKeyword(
  keyword: string,
  value: unknown,
  dialect: Dialect,
  removed: ReadonlySet<string>,
): unknown {
  if (REFERENCES.has(keyword)) return typeof value === 'string' ? dialect.refer(value) : value;
  if (keyword === 'required') return requiredOf(value, removed);
  if (keyword === 'examples')
    return dialect.direction === 'input' && Array.isArray(value) ? value : undefined;
  // The API checks it, too. Without its schema the operation could not be offered.
  if (keyword === 'pattern') return typeof value === 'string' && dialect.canMatch(value) ? value : undefined;
  if (keyword === 'discriminator')
    return isRecord(value) ? { propertyName: value['propertyName'] } : undefined;
  const convert = (each: unknown): unknown => convertSchema(each, dialect);
  switch (APPLICATORS.get(keyword)?.holds) {
    case undefined:
      return value;
    case 'one':
      return convert(value);
    case 'list':
      if (!Array.isArray(value)) return value;
      return value.map((each) => convertSchema(each, dialect, keyword === 'allOf' ? removed : undefined));
    case 'by-name': {
      if (!isRecord(value)) return value;
      const members = Object.entries(value).filter(
        ([name]) => keyword !== 'properties' || !removed.has(name),
      );
      return Object.fromEntries(members.map(([name, each]) => [name, convert(each)]));
    }
  }
}

/** Some descriptions have a boolean here, as draft 3 had. */
function requiredOf(value: unknown, removed: ReadonlySet<string>): unknown {
  if (!Array.isArray(value)) return undefined;
  const required = value.filter((name) => !removed.has(name as string));
  return required.length === 0 ? undefined : required;
}

/** `nullable` with an `enum` allows null, also where the list does not have it. */
function withNull(schema: JsonObject): JsonObject {
  const { nullable, enum: values } = schema;
  if (nullable !== true || !Array.isArray(values) || values.includes(null)) return schema;
  return { ...schema, enum: [...(values as unknown[]), null] };
}

/** `nullable` beside combined schemas allows null, which none of them may allow. `toCurrentDraft` converts it beside `type`. */
function nullableWhole(given: JsonObject, converted: JsonObject): JsonObject {
  const isCombined = ['allOf', 'anyOf', 'oneOf', '$ref'].some((keyword) => given[keyword] !== undefined);
  if (given['nullable'] !== true || !isCombined) return converted;
  const { title, description, type: _type, ...rest } = converted;
  return {
    ...(title === undefined ? {} : { title }),
    ...(description === undefined ? {} : { description }),
    anyOf: [rest, { type: 'null' }],
  };
}

/** Examples of results would only make the list of tools longer. */
function withExamples({ example }: JsonObject, converted: JsonObject, direction: Direction): JsonObject {
  if (direction === 'output' || example === undefined || converted['examples'] !== undefined)
    return converted;
  return { ...converted, examples: [example] };
}
