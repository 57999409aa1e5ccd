// oxlint-disable unicorn/no-thenable -- "then" is a keyword of JSON Schema
import type { JsonSchema } from '@patchboard/wire';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { jsonSchemas } from './json-schemas.ts';

const names = fc.constantFrom('a', 'b', 'c');
const scalars = fc.oneof(
  fc.integer({ min: -3, max: 3 }),
  fc.constantFrom('', 'a', 'ab', 'bb', null, true, 0.5),
);

const values = fc.letrec((tie) => ({
  value: fc.oneof({ maxDepth: 3, depthSize: 'small' }, scalars, tie('list'), tie('object')),
  list: fc.array(tie('value'), { maxLength: 4 }),
  object: fc.dictionary(names, tie('value'), { maxKeys: 3, noNullPrototype: true }),
})).value;

const counts = fc.integer({ min: 0, max: 3 });
const types = fc.constantFrom('array', 'boolean', 'integer', 'null', 'number', 'object', 'string');
const nameLists = fc.uniqueArray(names, { maxLength: 2 });

/** Chooses a few of the keywords: with all of them, no value would be valid and compiling would take seconds. */
function someOf(keywords: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<object> {
  const entries = Object.entries(keywords).map(([keyword, value]) => fc.tuple(fc.constant(keyword), value));
  return fc.array(fc.oneof(...entries), { maxLength: 3 }).map((chosen) => Object.fromEntries(chosen));
}

const schemas = fc.letrec<{ schema: unknown; checks: object; applied: object }>((tie) => {
  const schema = tie('schema');
  const some = fc.array(schema, { minLength: 1, maxLength: 3 });
  return {
    schema: fc.oneof(
      { maxDepth: 3, depthSize: 'small' },
      fc.boolean(),
      fc.constantFrom({ $ref: '#/$defs/x' }, { type: 'string' }, { type: 'object' }),
      tie('checks'),
      tie('applied'),
    ),
    checks: someOf({
      type: fc.oneof(types, fc.uniqueArray(types, { minLength: 1, maxLength: 3 })),
      enum: fc.array(values, { minLength: 1, maxLength: 3 }),
      const: values,
      minimum: counts,
      exclusiveMaximum: counts,
      multipleOf: fc.constantFrom(0.5, 1, 2),
      minLength: counts,
      maxLength: counts,
      pattern: fc.constantFrom('^a', 'b$', '^[^a]*$', 'a|bb', '.'),
      minItems: counts,
      maxItems: counts,
      uniqueItems: fc.boolean(),
      minProperties: counts,
      required: nameLists,
      dependentRequired: fc.dictionary(names, nameLists, { maxKeys: 2 }),
    }),
    applied: someOf({
      allOf: some,
      anyOf: some,
      oneOf: some,
      not: schema,
      if: schema,
      then: schema,
      else: schema,
      dependentSchemas: fc.dictionary(names, schema, { maxKeys: 1 }),
      properties: fc.dictionary(names, schema, { maxKeys: 2 }),
      patternProperties: fc.dictionary(fc.constantFrom('a', '^b', 'c$'), schema, { maxKeys: 1 }),
      additionalProperties: schema,
      propertyNames: schema,
      prefixItems: some,
      items: schema,
      required: nameLists,
    }),
  };
});

const documents = fc.tuple(fc.oneof(schemas.applied, schemas.checks), schemas.checks).map(([schema, x]) => ({
  ...schema,
  $defs: { x },
}));

// With all errors: code that stops at the first one refuses some values that the schema accepts.
const AJV_OPTIONS = {
  allErrors: true,
  strict: false,
  ownProperties: true,
  validateSchema: false,
  code: { optimize: false },
};

// Without keywords that Ajv gets wrong: `contains` (it carries its result from one item to the next) and `unevaluated…`.
it('gives the verdicts of Ajv for both origins', () => {
  fc.assert(
    fc.property(documents, fc.array(values, { minLength: 1, maxLength: 8 }), (document, samples) => {
      const own = jsonSchemas().compile(document as JsonSchema, 'own');
      const outside = jsonSchemas().compile(document as JsonSchema, 'outside');
      expect(outside.ok).toBe(own.ok);
      if (!own.ok || !outside.ok) return;
      const ajv = new Ajv2020(AJV_OPTIONS).compile(document);
      for (const sample of samples) {
        const isValid = own.validate(sample) === null;
        expect(outside.validate(sample) === null).toBe(isValid);
        expect(verdictOfAjv(ajv, sample) ?? isValid).toBe(isValid);
      }
    }),
    { numRuns: 1_500 },
  );
});

/** Returns null if Ajv's own code fails: it reads the evaluated properties of an `anyOf` before it has made their record. */
function verdictOfAjv(ajv: ValidateFunction, value: unknown): boolean | null {
  try {
    return ajv(value);
  } catch (error) {
    if (error instanceof TypeError && error.message.startsWith('Cannot set properties of undefined'))
      return null;
    throw error;
  }
}
