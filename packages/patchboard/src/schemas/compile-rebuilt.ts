import type { ErrorObject, ValidateFunction } from 'ajv';
import { Ajv2020, type Options } from 'ajv/dist/2020.js';
import { FORMATS } from './formats.ts';
import type { Pattern } from './patterns.ts';
import type { RebuiltSchema } from './rebuild-schema.ts';
import { uniqueItems } from './unique-items.ts';

/** Answers what is wrong, or null; unless `reportAll`, it ends at the first error. */
export type Compiled = (value: unknown, reportAll: boolean) => readonly ErrorObject[] | null;

/**
 * Code is generated at the first use: a server starts with many tools and calls few. What can be wrong with the
 * schema has been found by then.
 */
export function compileRebuilt(rebuilt: RebuiltSchema): Compiled {
  let all: ValidateFunction | null = null;
  let first: ValidateFunction | null = null;
  return (value, reportAll) => {
    const validate = reportAll ? (all ??= generate(rebuilt, true)) : (first ??= generate(rebuilt, false));
    if (validate(value)) return null;
    const errors = validate.errors ?? [];
    // The function would hold on to them, and through them to the value.
    validate.errors = null;
    return errors;
  };
}

/**
 * Every schema gets a compiler of its own. It costs 0.1 ms, because the rebuilt schema needs no meta-schema; and
 * a shared one would keep code and names of every schema it ever saw.
 */
function generate(rebuilt: RebuiltSchema, allErrors: boolean): ValidateFunction {
  const compiler = new Ajv2020(compilerOptions(rebuilt, allErrors));
  compiler.removeKeyword('uniqueItems').addKeyword(uniqueItems);
  // Its code for the `unevaluated` keywords throws on some schemas, so those are interpreted; without this line
  // the same code is generated for every schema.
  compiler.opts.unevaluated = false;
  return compiler.compile(typeof rebuilt.schema === 'boolean' ? rebuilt.schema : { ...rebuilt.schema });
}

function compilerOptions(rebuilt: RebuiltSchema, allErrors: boolean): Options {
  return {
    allErrors,
    strict: false,
    logger: false,
    meta: false,
    validateSchema: false,
    addUsedSchema: false,
    // A copy of the target at every reference is how a small schema becomes megabytes of code.
    inlineRefs: false,
    // Or "constructor" and "toString" would be found in every object.
    ownProperties: true,
    formats: Object.fromEntries(FORMATS),
    // Optimising makes the compile several times slower and the result hardly faster.
    code: { optimize: false, regExp: patternEngine(rebuilt) },
  };
}

function patternEngine({ patterns }: RebuiltSchema): NonNullable<NonNullable<Options['code']>['regExp']> {
  const engine = (source: string): { test(text: string): boolean } => {
    const pattern = patterns.get(source);
    if (pattern === undefined) throw new Error('a pattern that was not compiled before');
    const named: Pick<Pattern, 'test'> & { toString(): string } = {
      test: (text) => pattern.test(text),
      // The compiler tells patterns apart by their text.
      toString: () => source,
    };
    return named;
  };
  // Wanted only by the compiler's export to source code, which is not used.
  return Object.assign(engine, { code: 'compiledPattern' });
}
