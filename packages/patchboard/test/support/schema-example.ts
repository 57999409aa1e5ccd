import { isRecord } from '@patchboard/wire/json';

export type Document = Readonly<Record<string, unknown>>;

const DEEPEST = 6;

/** Follows a reference inside the document. */
export function follow(value: unknown, document: Document): unknown {
  if (!isRecord(value) || typeof value['$ref'] !== 'string') return value;
  const found = value['$ref']
    .slice(2)
    .split('/')
    .map((part) => decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce<unknown>(
      (at, part) => (isRecord(at) || Array.isArray(at) ? (at as Document)[part] : undefined),
      document,
    );
  return follow(found, document);
}

/** Returns the example of a media type object, or a value that fits its schema. */
export function exampleOf(media: Document, document: Document): unknown {
  return exampleOfSchema(media['schema'] ?? {}, document, 0);
}

function exampleOfSchema(given: unknown, document: Document, depth: number): unknown {
  const schema = follow(given, document);
  if (!isRecord(schema)) return null;
  if (schema['const'] !== undefined) return schema['const'];
  if (Array.isArray(schema['enum'])) return schema['enum'][0] as unknown;
  if (Array.isArray(schema['allOf'])) return merged(schema, document, depth);
  for (const key of ['oneOf', 'anyOf'])
    if (Array.isArray(schema[key])) return exampleOfSchema((schema[key] as unknown[])[0], document, depth);
  return exampleOfType(typeOf(schema), schema, document, depth);
}

/** Objects are merged; of other types the first part counts. */
function merged(schema: Document, document: Document, depth: number): unknown {
  const parts = partsOf(schema, document);
  const properties = Object.assign({}, ...parts.map((part) => part['properties'] ?? {})) as Document;
  const required = parts.flatMap((part) =>
    Array.isArray(part['required']) ? (part['required'] as unknown[]) : [],
  );
  if (Object.keys(properties).length > 0) return exampleObject({ properties, required }, document, depth);
  return exampleOfSchema(parts[0], document, depth);
}

/** The schema without `allOf`, after the schemas of its `allOf`. */
function partsOf({ allOf, ...own }: Document, document: Document): readonly Document[] {
  const parts = Array.isArray(allOf) ? allOf.map((part) => follow(part, document)).filter(isRecord) : [];
  return [...parts.flatMap((part) => partsOf(part, document)), own];
}

function typeOf({ type, nullable, properties, items }: Document): string {
  if (Array.isArray(type)) return type.includes('null') ? 'null' : String(type[0]);
  if (nullable === true) return 'null';
  if (typeof type === 'string') return type;
  if (properties !== undefined) return 'object';
  return items === undefined ? 'object' : 'array';
}

function exampleOfType(type: string, schema: Document, document: Document, depth: number): unknown {
  switch (type) {
    case 'object':
      return exampleObject(schema, document, depth);
    case 'array': {
      const count = Math.max(Number(schema['minItems'] ?? 0), depth < DEEPEST ? 1 : 0);
      return Array.from({ length: count }, () => exampleOfSchema(schema['items'] ?? {}, document, depth + 1));
    }
    case 'integer':
    case 'number':
      return Number(schema['minimum'] ?? (schema['exclusiveMinimum'] === undefined ? 1 : 1e6));
    case 'boolean':
      return true;
    case 'null':
      return null;
    default:
      return exampleText(schema);
  }
}

function exampleObject(schema: Document, document: Document, depth: number): Document {
  const properties = isRecord(schema['properties']) ? schema['properties'] : {};
  const required: readonly string[] = Array.isArray(schema['required']) ? schema['required'] : [];
  // Some descriptions require members that they do not describe.
  const names = new Set([...required, ...(depth < 2 ? Object.keys(properties) : [])]);
  return Object.fromEntries(
    [...names].map((name) => [name, exampleOfSchema(properties[name] ?? {}, document, depth + 1)]),
  );
}

const BY_FORMAT: Readonly<Record<string, string>> = {
  'date-time': '2026-01-31T08:15:00Z',
  date: '2026-01-31',
  time: '08:15:00Z',
  uuid: '018f2c4e-0000-7000-8000-000000000000',
  uri: 'https://example.org/x',
  url: 'https://example.org/x',
  email: 'a@example.org',
  ipv4: '192.0.2.1',
};

function exampleText({ format, minLength, contentEncoding }: Document): string {
  if (contentEncoding === 'base64') return 'eA==';
  const known = typeof format === 'string' ? BY_FORMAT[format] : undefined;
  return known ?? 'x'.repeat(Math.max(1, Number(minLength ?? 1)));
}
