import type { InputIssueView } from '../../views.ts';
import { refuseMultiplying } from './in-place-graph.ts';
import { interpretSchema } from './interpret-schema.ts';
import { compileNativePattern } from './patterns.ts';
import { rebuildSchema, type RebuildRules } from './rebuild-schema.ts';

/** The limits under which a schema is compiled and values are validated. */
export interface SchemaRules extends RebuildRules {
  /** Number of schemas applied to the same value, without descending into it. */
  readonly maxChecksInPlace: number;
  /** Step budget for validating one value. */
  readonly maxSteps: number;
}

/** Returns the issues of a value, at most 20; null if it is valid. */
export type SchemaValidator = (value: unknown) => readonly InputIssueView[] | null;

/** For schemas of the program itself: no limits, and native patterns. */
export const TRUSTED_RULES: SchemaRules = {
  compilePattern: compileNativePattern,
  maxProperties: Number.POSITIVE_INFINITY,
  maxChecks: Number.POSITIVE_INFINITY,
  maxReferences: Number.POSITIVE_INFINITY,
  maxPatterns: Number.POSITIVE_INFINITY,
  maxPatternSize: Number.POSITIVE_INFINITY,
  maxChecksInPlace: Number.POSITIVE_INFINITY,
  maxSteps: Number.POSITIVE_INFINITY,
};

/**
 * Compiles JSON Schema 2020-12, and older drafts where they agree with it, to an interpreter that counts its steps. Throws a
 * `SchemaProblem`.
 */
export function compileSchema(document: unknown, rules: SchemaRules): SchemaValidator {
  const rebuilt = rebuildSchema(document, rules);
  refuseMultiplying(rebuilt.graph, rules.maxChecksInPlace);
  return interpretSchema(rebuilt, rules.maxSteps);
}
