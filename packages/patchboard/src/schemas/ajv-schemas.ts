import type { JsonSchema } from '@patchboard/wire';
import { BoundedMap } from '../core/bounded-map.ts';
import type { CompiledSchema, Schemas, Validator } from '../core/ports.ts';
import { compileRebuilt } from './compile-rebuilt.ts';
import { refuseMultiplying } from './in-place-graph.ts';
import { interpretSchema } from './interpret-schema.ts';
import { issuesOf } from './issues.ts';
import { OUTSIDE_LIMITS } from './outside-limits.ts';
import { compileOutsidePattern, compileOwnPattern } from './patterns.ts';
import { rebuildSchema, type RebuildRules } from './rebuild-schema.ts';
import { SchemaProblem } from './schema-problem.ts';
import { isSmall } from './value-size.ts';
import { vetDocument } from './vet-document.ts';

export interface AjvSchemasOptions {
  /** Compiled schemas are kept for the next one with the same text, up to so many characters of text: 4,194,304. */
  readonly cachedChars?: number;
}

/** For larger values only the first thing that is wrong is reported, or errors would flood memory. */
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
 * JSON Schema 2020-12; older drafts are read as far as they say the same. Our own schemas become code by Ajv.
 * Schemas from outside are interpreted under a step budget, and a test holds both to the same verdicts.
 */
export function ajvSchemas(options: AjvSchemasOptions = {}): Schemas {
  const cache = new BoundedMap<string, CompiledSchema>(options.cachedChars ?? 4_194_304, (key) => key.length);
  return {
    compile: (schema, origin) => {
      const text = textOf(schema);
      if (text === null) return { ok: false, problem: 'the schema must be a JSON object or a boolean' };
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
    // Undefined for what is no JSON at all, whatever the type says.
    return (JSON.stringify(schema) as string | undefined) ?? null;
  } catch {
    return null;
  }
}

function compileWith(text: string, make: (text: string) => Validator): CompiledSchema {
  try {
    return { ok: true, validate: make(text) };
  } catch (error) {
    if (error instanceof SchemaProblem) return { ok: false, problem: error.message };
    throw error;
  }
}

function ownValidator(text: string): Validator {
  // A copy: nobody changes the schema under the validator.
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
    throw new SchemaProblem('', `the schema is larger than ${OUTSIDE_LIMITS.bytes} bytes`);
  }
  const document: unknown = JSON.parse(text);
  vetDocument(document, OUTSIDE_LIMITS.depth);
  const rebuilt = rebuildSchema(document, OUTSIDE_RULES);
  refuseMultiplying(rebuilt.graph, OUTSIDE_LIMITS.checksInPlace);
  return interpretSchema(rebuilt, OUTSIDE_LIMITS.steps);
}
