import type { JsonSchema } from '@patchboard/wire';
import { messageOf } from '../core/failures.ts';
import { isRecord } from '@patchboard/wire/json';
import { UsageError } from './exit-codes.ts';
import { typesIn, type JsonType } from '../protocols/schema-facts.ts';
import { fileProblem } from '../settings/file-problem.ts';
import { itemsSchema, propertySchema } from './schema-parts.ts';

/** Sources of arguments other than the command line. */
export interface ArgumentSources {
  readFile(path: string): Promise<string>;
  readStdin(): Promise<string>;
}

export interface GivenArguments {
  /** `key=value`, `key:=json`, or `-` for standard input. */
  readonly pairs: readonly string[];
  /** `--args`: JSON, `@file` or `-`. */
  readonly args?: string;
}

type Pair = { readonly key: string; readonly text: string; readonly raw: boolean };

/** Fetches the schema only for `key=value`, whose type depends on it. */
export async function readArguments(
  given: GivenArguments,
  sources: ArgumentSources,
  schema: () => Promise<JsonSchema>,
): Promise<Record<string, unknown>> {
  const fromStdin = given.pairs.includes('-');
  if (fromStdin && given.args !== undefined) throw new UsageError('give either "-" or --args, not both');
  const pairs = given.pairs.filter((text) => text !== '-').map(parsePair);
  const whole = await readWhole(fromStdin ? '-' : given.args, sources);
  const toolSchema = pairs.some((pair) => !pair.raw) ? await schema() : true;
  // Pairs override the members of the object, so that a saved file can be varied.
  return Object.fromEntries([...Object.entries(whole), ...typePairs(pairs, toolSchema)]);
}

export function parsePair(text: string): Pair {
  const at = text.indexOf('=');
  const raw = at > 0 && text[at - 1] === ':';
  const key = text.slice(0, raw ? at - 1 : at);
  if (at <= 0 || key === '') throw new UsageError(`"${text}" is not key=value or key:=json`);
  return { key, text: text.slice(at + 1), raw };
}

async function readWhole(
  given: string | undefined,
  sources: ArgumentSources,
): Promise<Record<string, unknown>> {
  if (given === undefined) return {};
  const [text, origin] = await load(given, sources);
  const value = parseJson(text, origin);
  if (!isRecord(value)) {
    throw new UsageError(`${origin} must be a JSON object`);
  }
  return value;
}

async function load(given: string, sources: ArgumentSources): Promise<[text: string, origin: string]> {
  if (given === '-') return [await sources.readStdin(), 'standard input'];
  if (!given.startsWith('@')) return [given, '--args'];
  const path = given.slice(1);
  try {
    return [await sources.readFile(path), path];
  } catch (error) {
    throw new UsageError(`cannot read ${path}: ${fileProblem(error)}`);
  }
}

function typePairs(pairs: readonly Pair[], schema: JsonSchema): Map<string, unknown> {
  const values = new Map<string, unknown>();
  for (const key of new Set(pairs.map((pair) => pair.key))) {
    const same = pairs.filter((pair) => pair.key === key);
    const property = propertySchema(schema, key);
    const types = typesOf(property, schema);
    if (same.length > 1 && types.has('array')) {
      const items = typesOf(itemsSchema(schema, property), schema);
      values.set(
        key,
        same.map((pair) => valueOf(pair, items)),
      );
      continue;
    }
    const [only, second] = same;
    if (second !== undefined) throw new UsageError(`"${key}" is given twice`);
    if (only !== undefined) values.set(key, valueOf(only, types));
  }
  return values;
}

/** Returns an empty set if the schema does not define the type. */
export function typesOf(schema: unknown, root: JsonSchema): ReadonlySet<JsonType> {
  return new Set(typesIn(schema, root));
}

function valueOf({ key, text, raw }: Pair, types: ReadonlySet<JsonType>): unknown {
  if (raw) return parseJson(text, `${key}:=`);
  const value = typedValue(text, types);
  if (value !== undefined) return value;
  throw new UsageError(`${key}: "${text}" is not ${listed(types)}${hintFor(key, types)}`);
}

/** Parses text as a value of one of the types; any type if there are none. Returns undefined if it is no such value. */
export function typedValue(text: string, types: ReadonlySet<JsonType>): unknown {
  // A value that may be a string is kept as typed, also if other types are allowed.
  if (types.has('string')) return text;
  if (types.size === 0) return untyped(text);
  const scalar = scalarOf(text);
  const parsed = scalar === undefined ? structureOf(text, types) : scalar;
  return parsed !== undefined && fits(parsed, types) ? parsed : undefined;
}

const JSON_NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;

/** Parses a number, boolean or null as in JSON. Returns undefined for anything else. */
function scalarOf(text: string): number | boolean | null | undefined {
  if (text === 'true') return true;
  if (text === 'false') return false;
  if (text === 'null') return null;
  if (!JSON_NUMBER.test(text)) return undefined;
  const value = Number(text);
  // An error instead of silent rounding, which could change an account number.
  const exact = Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value));
  if (!exact) throw new UsageError(`${text} cannot be represented exactly as a number`);
  return value;
}

/** Without a type in the schema, a JSON scalar is parsed, and anything else is a string. */
function untyped(text: string): unknown {
  const scalar = scalarOf(text);
  return scalar === undefined ? text : scalar;
}

function structureOf(text: string, types: ReadonlySet<JsonType>): unknown {
  if (!types.has('array') && !types.has('object')) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function fits(value: unknown, types: ReadonlySet<JsonType>): boolean {
  if (value === null) return types.has('null');
  if (Array.isArray(value)) return types.has('array');
  switch (typeof value) {
    case 'number':
      return types.has('number') || (types.has('integer') && Number.isInteger(value));
    case 'boolean':
      return types.has('boolean');
    case 'object':
      return types.has('object');
    default:
      return false;
  }
}

export function listed(types: ReadonlySet<JsonType>): string {
  return [...types]
    .map((type) => (/^[aio]/.test(type) ? `an ${type}` : type === 'null' ? type : `a ${type}`))
    .join(' or ');
}

function hintFor(key: string, types: ReadonlySet<JsonType>): string {
  if (types.has('array')) return `; write ${key}:='["…"]', or repeat ${key}=…`;
  return types.has('object') ? `; write ${key}:='{"…": …}'` : '';
}

function parseJson(text: string, origin: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new UsageError(`${origin} is not JSON: ${messageOf(error)}`);
  }
}
