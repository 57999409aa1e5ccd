import { compileSchema, TRUSTED_RULES, type SchemaValidator } from '@patchboard/wire/json';
import type { Schema } from './routes.ts';

const VALIDATORS = new WeakMap<Schema, SchemaValidator>();

/**
 * Returns the validator of a schema of this repository. The schema is compiled at its first use, because most processes use
 * few of them, and once per process, because its servers have the same schemas. `route-schemas.test.ts` checks the schemas.
 */
export function ownValidator(schema: Schema): SchemaValidator {
  let validate: SchemaValidator | undefined;
  return (value) => {
    validate ??= compiled(schema);
    return validate(value);
  };
}

function compiled(schema: Schema): SchemaValidator {
  const known = VALIDATORS.get(schema);
  if (known !== undefined) return known;
  const made = compileSchema(schema, TRUSTED_RULES);
  VALIDATORS.set(schema, made);
  return made;
}
