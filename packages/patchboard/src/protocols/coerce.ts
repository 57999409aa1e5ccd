import { reason, reasonText, type JsonSchema, type Reason } from '@patchboard/wire';
import { parseGuardedJson } from '../core/json/json-guard.ts';
import type { JsonLimits } from '../core/json/json-scanner.ts';
import { isRecord } from '@patchboard/wire/json';
import {
  describeTypes,
  enumMember,
  JSON_TYPES,
  propertyOf,
  requiredOf,
  typesIn,
  type JsonType,
  type SchemaObject,
} from './schema-facts.ts';

type ArgumentStatus = 'kept' | 'coerced' | 'invalid' | 'unknown' | 'missing';

/** The coercion of one argument. */
export interface CoercedArgument {
  readonly name: string;
  /** The text that the model wrote; null if the argument is missing. */
  readonly raw: string | null;
  /** The type in the schema. */
  readonly type: string;
  readonly value: unknown;
  readonly status: ArgumentStatus;
  readonly problem?: string;
  /** The codes and parameters of `problem`. */
  readonly reasons?: readonly Reason[];
}

export interface Coerced {
  readonly args: Readonly<Record<string, unknown>>;
  readonly report: readonly CoercedArgument[];
}

const JSON_LIMITS: JsonLimits = { depth: 64, values: 100_000 };

/** Converts text arguments to the types of the schema. A value that does not fit stays text, and is reported. */
export function coerceArguments(schema: JsonSchema, given: Readonly<Record<string, unknown>>): Coerced {
  const root: SchemaObject = typeof schema === 'boolean' ? {} : schema;
  const report: CoercedArgument[] = [];
  for (const [name, raw] of Object.entries(given)) {
    report.push(typeof raw === 'string' ? coerceOne(root, name, raw) : asIs(name, raw));
  }
  for (const name of requiredOf(root)) {
    if (Object.hasOwn(given, name)) continue;
    const type = describeTypes(typesIn(propertyOf(root, name) ?? true, root));
    report.push({
      name,
      raw: null,
      type,
      value: undefined,
      status: 'missing',
      ...because(reason('argument_missing')),
    });
  }
  const kept = report.filter(({ status }) => status !== 'missing');
  return { args: Object.fromEntries(kept.map(({ name, value }) => [name, value])), report };
}

/** The problems that keep a call from running. */
export function problemsIn({ report }: Coerced): Reason[] {
  return report.flatMap(({ name, reasons }) =>
    reasons === undefined ? [] : [reason('argument', { name, problem: reasons })],
  );
}

function because(why: Reason): Required<Pick<CoercedArgument, 'problem' | 'reasons'>> {
  return { problem: reasonText(why), reasons: [why] };
}

function coerceOne(root: SchemaObject, name: string, raw: string): CoercedArgument {
  const property = propertyOf(root, name);
  if (property === undefined) {
    // Whether a pattern allows the name is left to the engine.
    const isRefused = root['additionalProperties'] === false && root['patternProperties'] === undefined;
    const problem = isRefused ? because(reason('argument_unknown')) : {};
    return { name, raw, type: 'unknown', value: raw, status: 'unknown', ...problem };
  }
  const types = typesIn(property, root);
  const type = describeTypes(types);
  const member = enumMember(property, raw);
  if (member !== undefined) return done(name, raw, type, member.value);
  if (types === null || types.includes('string')) return done(name, raw, type, raw);
  for (const candidate of JSON_TYPES) {
    if (!types.includes(candidate)) continue;
    const value = readAs(candidate, raw);
    if (value !== undefined) return done(name, raw, type, value.value);
  }
  return { name, raw, type, value: raw, status: 'invalid', ...because(typeProblem(types, type, raw)) };
}

function done(name: string, raw: string, type: string, value: unknown): CoercedArgument {
  return { name, raw, type, value, status: value === raw ? 'kept' : 'coerced' };
}

function asIs(name: string, value: unknown): CoercedArgument {
  return { name, raw: JSON.stringify(value), type: 'json', value, status: 'kept' };
}

/** Returns undefined if the text is not a value of the type. */
function readAs(type: JsonType, raw: string): { readonly value: unknown } | undefined {
  const text = raw.trim();
  switch (type) {
    case 'string':
      return { value: raw };
    case 'boolean':
      return /^(?:true|false)$/i.test(text) ? { value: text.toLowerCase() === 'true' } : undefined;
    case 'null':
      return text === 'null' ? { value: null } : undefined;
    default: {
      const parsed = parseGuardedJson(text, JSON_LIMITS);
      return parsed.ok && isOfType(parsed.value, type) ? { value: parsed.value } : undefined;
    }
  }
}

function isOfType(value: unknown, type: 'integer' | 'number' | 'array' | 'object'): boolean {
  switch (type) {
    case 'integer':
      return Number.isSafeInteger(value);
    case 'number':
      return typeof value === 'number';
    case 'array':
      return Array.isArray(value);
    case 'object':
      return isRecord(value);
  }
}

/** For arrays and objects, which are written as JSON, returns the problem of the JSON parser. */
function typeProblem(types: readonly JsonType[], type: string, raw: string): Reason {
  if (!types.includes('array') && !types.includes('object')) return reason('argument_type', { type });
  const parsed = parseGuardedJson(raw.trim(), JSON_LIMITS);
  if (parsed.ok) return reason('argument_json', { type });
  const { reason: why, line, column } = parsed;
  const problem = reason('json_at_line', { problem: [why], line, column });
  return reason('argument_bad_json', { type, problem: [problem] });
}
