import type { JsonSchema } from '@patchboard/wire';
import { valueAt } from '@patchboard/wire/json';
import { readParamHeaders, type ParamHeader } from '../../core/tools/param-headers.ts';

/** Request headers as Node parses them: names in lower case. */
type RequestHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

const NONE: readonly ParamHeader[] = [];
/** By input schema, so that a schema is read once and not per call. */
const known: WeakMap<object, readonly ParamHeader[]> = new WeakMap();

/** What a client may write in a header; others are encoded. */
const FIELD_VALUE = /^[\t\x20-\x7e]*$/;
/** The same without white space at its ends, which a recipient trims. */
const PLAIN = /^(?:[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?)?$/;
const ENCODED = /^=\?base64\?(.*)\?=$/;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const DECIMAL = /^-?\d+(?:\.\d+)?$/;
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Compares the `Mcp-Param-*` headers of a `tools/call` with its arguments. Returns the name of the first header that is
 * missing, malformed or unlike its argument; null if there is none. A header for an absent argument is refused too: a
 * proxy may have routed by it.
 */
export function paramHeaderProblem(
  inputSchema: JsonSchema,
  args: unknown,
  headers: RequestHeaders,
): string | null {
  for (const header of paramHeadersOf(inputSchema)) {
    const name = `Mcp-Param-${header.name}`;
    if (!isSame(header, valueAt(args, header.path), headers[name.toLowerCase()])) return name;
  }
  return null;
}

/** The `Mcp-Param-*` headers that a client sends with a `tools/call` of these arguments. */
export function paramHeaderValues(inputSchema: JsonSchema, args: unknown): Readonly<Record<string, string>> {
  const values: Record<string, string> = {};
  for (const { name, path } of paramHeadersOf(inputSchema)) {
    const text = textOf(valueAt(args, path));
    if (text !== undefined) values[`Mcp-Param-${name}`] = encodedText(text);
  }
  return values;
}

/** Text that would not arrive unchanged, or that looks encoded, is sent in base64. */
function encodedText(text: string): string {
  if (PLAIN.test(text) && !ENCODED.test(text)) return text;
  return `=?base64?${Buffer.from(text).toString('base64')}?=`;
}

/** The annotated parameters of a tool. A stored tool with an invalid annotation has none: MCP clients do not list it. */
function paramHeadersOf(schema: JsonSchema): readonly ParamHeader[] {
  if (typeof schema === 'boolean') return NONE;
  const kept = known.get(schema);
  if (kept !== undefined) return kept;
  const read = readParamHeaders(schema);
  const headers = read.ok ? read.headers : NONE;
  known.set(schema, headers);
  return headers;
}

function isSame(
  { type }: ParamHeader,
  value: unknown,
  header: string | readonly string[] | undefined,
): boolean {
  const expected = textOf(value);
  if (header === undefined || expected === undefined) return header === expected;
  const given = typeof header === 'string' ? headerText(header) : undefined;
  if (given === undefined) return false;
  const isNumeric = type === 'integer' && typeof value === 'number' && DECIMAL.test(given);
  return isNumeric ? Number(given) === value : given === expected;
}

/** The text that a client sends for the value; undefined if it sends no header: for null, objects and unsafe integers. */
function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return String(value);
  if (typeof value !== 'number' || !Number.isFinite(value)) return undefined;
  return Number.isInteger(value) && !Number.isSafeInteger(value) ? undefined : String(value);
}

/** Returns the text of a header: trimmed, and decoded from its base64 form. Undefined if it is malformed. */
export function headerText(header: string): string | undefined {
  if (!FIELD_VALUE.test(header)) return undefined;
  const text = header.trim();
  const encoded = ENCODED.exec(text)?.[1];
  if (encoded === undefined) return text;
  if (!BASE64.test(encoded)) return undefined;
  try {
    return utf8.decode(Buffer.from(encoded, 'base64'));
  } catch {
    return undefined; // The bytes are not UTF-8.
  }
}
