import type { InputIssueView, JsonSchema } from '../../views.ts';
import { reason } from '../../reasons/reason-text.ts';
import { isRecord } from '../is-record.ts';
import { APPLICATOR_CHECKS } from './applicator-checks.ts';
import { BudgetSpent, CheckRun, Evaluated, type Check } from './check-run.ts';
import { shortIssue } from './issues.ts';
import type { JsonObject } from './schema-applicators.ts';
import type { Pattern } from './patterns.ts';
import type { RebuiltSchema } from './rebuild-schema.ts';
import { SCALAR_CHECKS } from './scalar-checks.ts';

const TOO_MUCH: readonly InputIssueView[] = [shortIssue('', reason('issue_too_costly'))];

/**
 * Returns a validator that interprets the schema and counts its steps. Generated code is hardly faster, generating it for a
 * schema of the allowed size takes 100 ms, and a running check could not be stopped.
 */
export function interpretSchema(
  rebuilt: RebuiltSchema,
  maxSteps: number,
): (value: unknown) => readonly InputIssueView[] | null {
  // Built at the first use: a device may register hundreds of tools in one frame, and few of them are called.
  let check: Check | null = null;
  return (value) => {
    check ??= new Interpreter(rebuilt).check;
    const run = new CheckRun(maxSteps);
    try {
      return check(value, run, null) ? null : run.issues;
    } catch (error) {
      // RangeError: the value is nested deeper than the stack allows.
      if (!(error instanceof BudgetSpent) && !(error instanceof RangeError)) throw error;
      // Issues found before the budget was spent are valid.
      return run.issues.length > 0 ? run.issues : TOO_MUCH;
    }
  };
}

class Interpreter {
  readonly check: Check;
  readonly #patterns: ReadonlyMap<string, Pattern>;
  readonly #definitions: JsonObject;
  readonly #targets = new Map<string, { check: Check | null }>();

  constructor({ schema, patterns }: RebuiltSchema) {
    this.#patterns = patterns;
    const definitions = isRecord(schema) ? schema['$defs'] : undefined;
    this.#definitions = isRecord(definitions) ? definitions : {};
    this.check = this.#compile(schema);
  }

  #compile(schema: JsonSchema): Check {
    if (schema === true) return (_value, run) => (run.spend(1), true);
    if (schema === false) return (_value, run) => (run.spend(1), run.fail(reason('issue_not_allowed')));
    const checks = this.#checksOf(schema);
    const needsEvaluated = 'unevaluatedProperties' in schema || 'unevaluatedItems' in schema;
    return (value, run, evaluated) => {
      run.spend(1 + checks.length);
      // Collected separately: what a schema evaluated counts for the outer schema only if the value is valid.
      const own = needsEvaluated || evaluated !== null ? new Evaluated() : null;
      let isValid = true;
      for (const check of checks) {
        if (check(value, run, own)) continue;
        isValid = false;
        if (run.stopsAtFirst) return false;
      }
      if (isValid && own !== null) evaluated?.addAll(own, run);
      return isValid;
    };
  }

  #checksOf(schema: JsonObject): readonly Check[] {
    const checks: Check[] = [];
    for (const [keyword, make] of SCALAR_CHECKS) {
      if (schema[keyword] !== undefined) checks.push(make(schema[keyword] as never, schema));
    }
    const { pattern, $ref: reference } = schema;
    if (typeof pattern === 'string') checks.push(this.#patternCheck(pattern));
    if (typeof reference === 'string') checks.push(this.#referenceCheck(reference));
    const context = {
      schema,
      compile: (inner: JsonSchema) => this.#compile(inner),
      patternOf: (source: string) => this.#patternOf(source),
    };
    for (const [keyword, make] of APPLICATOR_CHECKS)
      if (schema[keyword] !== undefined) checks.push(make(context));
    return checks;
  }

  #patternCheck(source: string): Check {
    const pattern = this.#patternOf(source);
    const why = reason('issue_pattern', { pattern: source });
    return (value, run) => {
      if (typeof value !== 'string') return true;
      run.spend(value.length * pattern.stepsPerChar);
      return pattern.test(value) || run.fail(why);
    };
  }

  #patternOf(source: string): Pattern {
    const pattern = this.#patterns.get(source);
    if (pattern === undefined) throw new Error(`the pattern was not compiled before: ${source}`);
    return pattern;
  }

  /** Compiles each target once. The check is looked up when it runs, because a schema may refer to itself. */
  #referenceCheck(reference: string): Check {
    const known = this.#targets.get(reference);
    const target = known ?? { check: null };
    if (known === undefined) {
      this.#targets.set(reference, target);
      target.check = this.#compile(this.#definitions[reference.slice('#/$defs/'.length)] as JsonSchema);
    }
    return (value, run, evaluated) => target.check?.(value, run, evaluated) ?? true;
  }
}
