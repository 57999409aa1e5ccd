import { Ajv2020, type Options, type ValidateFunction } from 'ajv/dist/2020.js';
import type { Schema } from './routes.ts';

/** `route-schemas.test.ts` checks the schemas themselves: compiling the meta-schema would take longer than compiling them. */
const OPTIONS: Options = {
  strict: true,
  strictRequired: false,
  allowUnionTypes: true,
  meta: false,
  validateSchema: false,
};

export type SchemaCompiler = (schema: Schema) => Validate;
/** Returns the validator of the schema with its `errors`. */
export type Validate = () => ValidateFunction;

/**
 * Compiles schemas of this repository. Generates the code of a schema at its first use, because most processes use few of
 * them, and once per process, because its servers have the same schemas.
 */
export function schemaCompiler(more: Options = {}): SchemaCompiler {
  const validators = new WeakMap<Schema, ValidateFunction>();
  return (schema) => {
    let validate = validators.get(schema);
    return () => {
      validate ??= validators.get(schema);
      if (validate === undefined) {
        // One compiler per schema: a shared one would keep every schema it has compiled.
        validate = new Ajv2020({ ...OPTIONS, ...more }).compile(schema);
        validators.set(schema, validate);
      }
      return validate;
    };
  };
}
