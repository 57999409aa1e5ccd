import type { ErrorObject, ValidateFunction } from 'ajv';
import { Ajv2020, type Options } from 'ajv/dist/2020.js';
import { FORMATS } from './formats.ts';
import type { Pattern } from './patterns.ts';
import type { RebuiltSchema } from './rebuild-schema.ts';
import { uniqueItems } from './unique-items.ts';

/** Returns the errors, or null if the value is valid. Stops at the first error unless `reportAll`. */
export type Compiled = (value: unknown, reportAll: boolean) => readonly ErrorObject[] | null;

/**
 * Generates the code at the first use: a server starts with many tools and calls few. Problems of the schema have been
 * found before, by `rebuildSchema`.
 */
export function compileRebuilt(rebuilt: RebuiltSchema): Compiled {
  let all: ValidateFunction | null = null;
  let first: ValidateFunction | null = null;
  return (value, reportAll) => {
    const validate = reportAll ? (all ??= generate(rebuilt, true)) : (first ??= generate(rebuilt, false));
    if (validate(value)) return null;
    const errors = validate.errors ?? [];
    // Ajv keeps the errors on the function, and with them a reference to the value.
    validate.errors = null;
    return errors;
  };
}

/**
 * Each schema gets its own compiler. That costs 0.1 ms, because a rebuilt schema needs no meta-schema. A shared compiler
 * would keep the code and names of every schema for the life of the process.
 */
function generate(rebuilt: RebuiltSchema, allErrors: boolean): ValidateFunction {
  const compiler = new Ajv2020(compilerOptions(rebuilt, allErrors));
  compiler.removeKeyword('uniqueItems').addKeyword(uniqueItems);
  // Ajv's code for the `unevaluated` keywords throws on some schemas, so those are interpreted. Without this line Ajv
  // generates that code for every schema.
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
    // Inlining the target at every reference would turn a small schema into megabytes of code.
    inlineRefs: false,
    // Otherwise every object would have the properties "constructor" and "toString".
    ownProperties: true,
    formats: Object.fromEntries(FORMATS),
    // Optimising makes compilation several times slower and the result hardly faster.
    code: { optimize: false, regExp: patternEngine(rebuilt) },
  };
}

function patternEngine({ patterns }: RebuiltSchema): NonNullable<NonNullable<Options['code']>['regExp']> {
  const engine = (source: string): { test(text: string): boolean } => {
    const pattern = patterns.get(source);
    if (pattern === undefined) throw new Error(`the pattern was not compiled before: ${source}`);
    const named: Pick<Pattern, 'test'> & { toString(): string } = {
      test: (text) => pattern.test(text),
      // Ajv distinguishes patterns by their text.
      toString: () => source,
    };
    return named;
  };
  // Ajv requires `code` for its standalone output, which is not used.
  return Object.assign(engine, { code: 'compiledPattern' });
}
