/** A type as JSON Schema; `unknown` lists the parts of it that are not known. */
export interface ReadType {
  readonly schema: Readonly<Record<string, unknown>>;
  readonly unknown: readonly string[];
  /** True: `undefined` is one of its alternatives. */
  readonly isOptional: boolean;
}

type Schema = ReadType['schema'];

/** Schemas by type name in lower case. */
const NAMED: ReadonlyMap<string, Schema> = new Map<string, Schema>([
  ...['string', 'number', 'integer', 'boolean', 'object', 'array', 'null'].map(
    (type) => [type, { type }] as const,
  ),
  ['int', { type: 'integer' }],
  ['float', { type: 'number' }],
  ['bool', { type: 'boolean' }],
  ['any', {}],
  ['unknown', {}],
]);

const MAX_CHARACTERS = 2000;
const MAX_DEPTH = 8;
const LISTS = /^(?:array|readonlyarray)<(.*)>$/is;
const RECORD = /^record<(.*)>$/is;
const LITERAL = /^(?:'([^'\\]*)'|"([^"\\]*)"|`([^`\\]*)`)$/;

/**
 * Reads a parameter's type as registry files write it: JSON types, and arrays, unions, literals, records and `any` of
 * TypeScript. For any other type name, every value is accepted.
 */
export function readType(text: string): ReadType {
  const unknown: string[] = [];
  if (text.length > MAX_CHARACTERS) return { schema: {}, unknown: [text.slice(0, 100)], isOptional: false };
  const alternatives = splitAt(text, '|');
  const known = alternatives.filter((part) => !isUndefined(part));
  const schema = union(known.map((part) => schemaOf(part, unknown, 0)));
  return { schema, unknown, isOptional: known.length < alternatives.length };
}

function isUndefined(part: string): boolean {
  return part === 'undefined' || part === 'void';
}

function schemaOf(text: string, unknown: string[], depth: number): Schema {
  const alternatives = splitAt(text, '|').filter((part) => !isUndefined(part));
  const inner = (part: string): Schema => schemaOf(part, unknown, depth + 1);
  if (depth > MAX_DEPTH) return unread(text, unknown);
  if (alternatives.length > 1) return union(alternatives.map(inner));
  const type = (alternatives[0] ?? '').replace(/^readonly\s+/, '');
  const named = NAMED.get(type.toLowerCase());
  if (named !== undefined) return named;
  if (type.endsWith('[]')) return { type: 'array', items: inner(type.slice(0, -2)) };
  const list = LISTS.exec(type)?.[1];
  if (list !== undefined) return { type: 'array', items: inner(list) };
  const record = splitAt(RECORD.exec(type)?.[1] ?? '', ',');
  if (record.length === 2) return { type: 'object', additionalProperties: inner(record[1] ?? '') };
  if (isEnclosed(type, '(', ')')) return inner(type.slice(1, -1));
  if (isEnclosed(type, '[', ']')) return { type: 'array' };
  if (isEnclosed(type, '{', '}')) return { type: 'object' };
  return literal(type) ?? unread(type, unknown);
}

function literal(type: string): Schema | undefined {
  const quoted = LITERAL.exec(type);
  if (quoted !== null) return { type: 'string', enum: [quoted[1] ?? quoted[2] ?? quoted[3] ?? ''] };
  if (/^-?\d+(?:\.\d+)?$/.test(type)) return { type: 'number', enum: [Number(type)] };
  if (type === 'true' || type === 'false') return { type: 'boolean', enum: [type === 'true'] };
  return undefined;
}

function unread(type: string, unknown: string[]): Schema {
  unknown.push(type);
  return {};
}

/** Merges literals of one type into one `enum`, and plain types into one `type` array. */
function union(schemas: readonly Schema[]): Schema {
  const [first = {}] = schemas;
  if (schemas.length < 2) return first;
  if (schemas.some((schema) => Object.keys(schema).length === 0)) return {};
  const has = (...keys: string[]): boolean =>
    schemas.every((schema) => Object.keys(schema).join() === keys.join());
  if (has('type', 'enum') && schemas.every(({ type }) => type === first['type']))
    return {
      type: first['type'],
      enum: [...new Set(schemas.flatMap((schema) => schema['enum'] as unknown[]))],
    };
  if (has('type')) return { type: [...new Set(schemas.map(({ type }) => type))] };
  return { anyOf: schemas };
}

/** Splits at the top level only: not inside quotes and brackets. */
function splitAt(text: string, separator: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let quote = '';
  let from = 0;
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charAt(at);
    if (quote !== '') {
      if (character === quote) quote = '';
    } else if ('\'"`'.includes(character)) quote = character;
    else if ('<([{'.includes(character)) depth += 1;
    // The `>` of an arrow function is not a bracket.
    else if ('>)]}'.includes(character) && text.charAt(at - 1) !== '=') depth -= 1;
    else if (character === separator && depth === 0) {
      parts.push(text.slice(from, at).trim());
      from = at + 1;
    }
  }
  parts.push(text.slice(from).trim());
  return parts.filter((part) => part !== '');
}

/** Whether the first and last characters are a matching pair of brackets. */
function isEnclosed(text: string, open: string, close: string): boolean {
  if (!text.startsWith(open) || !text.endsWith(close)) return false;
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    if (text.charAt(at) === open) depth += 1;
    else if (text.charAt(at) === close) depth -= 1;
    if (depth === 0) return at === text.length - 1;
  }
  return false;
}
