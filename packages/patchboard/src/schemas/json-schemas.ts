import { reason, type JsonSchema } from '@patchboard/wire';
import {
  compileSchema,
  isRecord,
  pointerTo,
  SchemaProblem,
  TRUSTED_RULES,
  type SchemaRules,
} from '@patchboard/wire/json';
import { BoundedMap } from '../core/bounded-map.ts';
import type { CompiledSchema, Schemas, Validator } from '../core/ports.ts';
import { hasHiddenCharacters } from '../core/tools/tool-names.ts';
import { OUTSIDE_LIMITS } from './outside-limits.ts';
import { compileOutsidePattern } from './patterns.ts';

export interface JsonSchemasOptions {
  /** Capacity of the cache of compiled schemas, in characters of schema text. Default: 4,194,304. */
  readonly cachedChars?: number;
}

/** The limits for schemas of one origin. */
interface OriginRules extends SchemaRules {
  readonly maxBytes: number;
  readonly maxDepth: number;
}

const RULES: Readonly<Record<'own' | 'outside', OriginRules>> = {
  own: { ...TRUSTED_RULES, maxBytes: Number.POSITIVE_INFINITY, maxDepth: 200 },
  outside: {
    compilePattern: compileOutsidePattern,
    maxBytes: OUTSIDE_LIMITS.bytes,
    maxDepth: OUTSIDE_LIMITS.depth,
    maxProperties: OUTSIDE_LIMITS.properties,
    maxChecks: OUTSIDE_LIMITS.checks,
    maxReferences: OUTSIDE_LIMITS.references,
    maxPatterns: OUTSIDE_LIMITS.patterns,
    maxPatternSize: OUTSIDE_LIMITS.patternSize,
    maxChecksInPlace: OUTSIDE_LIMITS.checksInPlace,
    maxSteps: OUTSIDE_LIMITS.steps,
  },
};

/** Compiles JSON Schema 2020-12, and older drafts where they agree with it, to interpreters that count their steps. */
export function jsonSchemas(options: JsonSchemasOptions = {}): Schemas {
  const cache = new BoundedMap<string, CompiledSchema>(options.cachedChars ?? 4_194_304, (key) => key.length);
  return {
    compile: (schema, origin) => {
      const text = textOf(schema);
      if (text === null) return { ok: false, problem: reason('schema_not_json') };
      const key = `${origin} ${text}`;
      const known = cache.use(key);
      if (known !== undefined) return known;
      const compiled = compile(text, RULES[origin]);
      cache.set(key, compiled);
      return compiled;
    },
  };
}

function textOf(schema: JsonSchema): string | null {
  try {
    // `JSON.stringify` returns undefined for undefined and functions, in spite of its type.
    return (JSON.stringify(schema) as string | undefined) ?? null;
  } catch {
    return null;
  }
}

function compile(text: string, rules: OriginRules): CompiledSchema {
  try {
    return { ok: true, validate: validatorOf(text, rules) };
  } catch (error) {
    if (error instanceof SchemaProblem) return { ok: false, problem: error.reason };
    throw error;
  }
}

function validatorOf(text: string, rules: OriginRules): Validator {
  if (Buffer.byteLength(text) > rules.maxBytes) {
    throw new SchemaProblem('', reason('schema_over_bytes', { bytes: rules.maxBytes }));
  }
  // A copy, so that later changes of the caller's object do not affect the validator.
  const document: unknown = JSON.parse(text);
  vetDocument(document, rules.maxDepth);
  return compileSchema(document, rules);
}

/** Throws a `SchemaProblem` for hidden characters, dangerous keys and excessive depth, also in parts that no keyword uses. */
function vetDocument(document: unknown, maxDepth: number): void {
  vet(document, '', maxDepth);
}

function vet(value: unknown, pointer: string, depthLeft: number): void {
  if (typeof value === 'string') return vetText(value, pointer);
  if (typeof value !== 'object' || value === null) return;
  if (depthLeft === 0) throw new SchemaProblem(pointer, reason('schema_too_deep'));
  if (Array.isArray(value)) {
    for (const [place, item] of value.entries()) vet(item, pointerTo(pointer, place), depthLeft - 1);
    return;
  }
  for (const [key, member] of Object.entries(value)) {
    vetText(key, pointer);
    const place = pointerTo(pointer, key);
    if (key === '__proto__') throw new SchemaProblem(place, reason('json_key_forbidden', { key }));
    if (key === 'constructor' && hasPrototype(member)) {
      throw new SchemaProblem(place, reason('json_prototype_forbidden'));
    }
    vet(member, place, depthLeft - 1);
  }
}

function vetText(text: string, pointer: string): void {
  if (hasHiddenCharacters(text)) throw new SchemaProblem(pointer, reason('hidden_characters'));
}

function hasPrototype(value: unknown): boolean {
  return isRecord(value) && Object.hasOwn(value, 'prototype');
}
