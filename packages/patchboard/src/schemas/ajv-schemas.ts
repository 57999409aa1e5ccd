import { reason, type JsonSchema } from '@patchboard/wire';
import { BoundedMap } from '../core/bounded-map.ts';
import { isRecord } from '../core/json/is-record.ts';
import { pointerTo } from '../core/json/json-pointer.ts';
import type { CompiledSchema, Schemas, Validator } from '../core/ports.ts';
import { hasHiddenCharacters } from '../core/tools/tool-names.ts';
import { compileRebuilt } from './compile-rebuilt.ts';
import { refuseMultiplying } from './in-place-graph.ts';
import { interpretSchema } from './interpret-schema.ts';
import { issuesOf } from './issues.ts';
import type { JsonObject } from '../core/json/schema-applicators.ts';
import { OUTSIDE_LIMITS } from './outside-limits.ts';
import { compileOutsidePattern, compileOwnPattern } from './patterns.ts';
import { rebuildSchema, type RebuildRules } from './rebuild-schema.ts';
import { SchemaProblem } from './schema-problem.ts';

export interface AjvSchemasOptions {
  /** Capacity of the cache of compiled schemas, in characters of schema text. Default: 4,194,304. */
  readonly cachedChars?: number;
}

/** For larger values only the first issue is reported, to bound the memory for errors. */
const REPORT_ALL_NODES = 2_000;
const MAX_DEPTH = 256;
const OWN_SCHEMA_DEPTH = 200;

const OWN_RULES: RebuildRules = {
  compilePattern: compileOwnPattern,
  maxProperties: Number.POSITIVE_INFINITY,
  maxChecks: Number.POSITIVE_INFINITY,
  maxReferences: Number.POSITIVE_INFINITY,
  maxPatterns: Number.POSITIVE_INFINITY,
  maxPatternSize: Number.POSITIVE_INFINITY,
};

const OUTSIDE_RULES: RebuildRules = {
  compilePattern: compileOutsidePattern,
  maxProperties: OUTSIDE_LIMITS.properties,
  maxChecks: OUTSIDE_LIMITS.checks,
  maxReferences: OUTSIDE_LIMITS.references,
  maxPatterns: OUTSIDE_LIMITS.patterns,
  maxPatternSize: OUTSIDE_LIMITS.patternSize,
};

/**
 * Compiles JSON Schema 2020-12, and older drafts where they agree with it. Ajv compiles our own schemas to code.
 * Schemas from outside are interpreted with a step budget. A property test checks that both give the same verdicts.
 */
export function ajvSchemas(options: AjvSchemasOptions = {}): Schemas {
  const cache = new BoundedMap<string, CompiledSchema>(options.cachedChars ?? 4_194_304, (key) => key.length);
  return {
    compile: (schema, origin) => {
      const text = textOf(schema);
      if (text === null) return { ok: false, problem: reason('schema_not_json') };
      const key = `${origin} ${text}`;
      const known = cache.use(key);
      if (known !== undefined) return known;
      const compiled =
        origin === 'own' ? compileWith(text, ownValidator) : compileWith(text, outsideValidator);
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

function compileWith(text: string, make: (text: string) => Validator): CompiledSchema {
  try {
    return { ok: true, validate: make(text) };
  } catch (error) {
    if (error instanceof SchemaProblem) return { ok: false, problem: error.reason };
    throw error;
  }
}

function ownValidator(text: string): Validator {
  // A copy, so that later changes of the caller's object do not affect the validator.
  const document: unknown = JSON.parse(text);
  vetDocument(document, OWN_SCHEMA_DEPTH);
  const rebuilt = rebuildSchema(document, OWN_RULES);
  refuseMultiplying(rebuilt.graph, Number.POSITIVE_INFINITY);
  if (rebuilt.mustBeInterpreted) return interpretSchema(rebuilt, Number.POSITIVE_INFINITY);
  const validate = compileRebuilt(rebuilt);
  return (value) => {
    const errors = validate(value, isSmall(value, REPORT_ALL_NODES, MAX_DEPTH));
    return errors === null ? null : issuesOf(errors);
  };
}

function outsideValidator(text: string): Validator {
  if (Buffer.byteLength(text) > OUTSIDE_LIMITS.bytes) {
    throw new SchemaProblem('', reason('schema_over_bytes', { bytes: OUTSIDE_LIMITS.bytes }));
  }
  const document: unknown = JSON.parse(text);
  vetDocument(document, OUTSIDE_LIMITS.depth);
  const rebuilt = rebuildSchema(document, OUTSIDE_RULES);
  refuseMultiplying(rebuilt.graph, OUTSIDE_LIMITS.checksInPlace);
  return interpretSchema(rebuilt, OUTSIDE_LIMITS.steps);
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
  return isRecord(value) && Object.hasOwn(value as JsonObject, 'prototype');
}

/** Returns whether a value contains at most `maxNodes` values and nests no deeper than `maxDepth` (false for a cycle). */
function isSmall(value: unknown, maxNodes: number, maxDepth: number): boolean {
  return countNodes(value, maxNodes, maxDepth) >= 0;
}

/** Returns how many nodes are left; negative if there are too many. */
function countNodes(value: unknown, nodesLeft: number, depthLeft: number): number {
  let left = nodesLeft - 1;
  if (typeof value !== 'object' || value === null) return left;
  if (depthLeft === 0) return -1;
  for (const member of Object.values(value)) {
    if (left < 0) return left;
    left = countNodes(member, left, depthLeft - 1);
  }
  return left;
}
