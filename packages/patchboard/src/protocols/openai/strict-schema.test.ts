import { reasonText } from '@patchboard/wire';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jsonSchemas } from '../../schemas/json-schemas.ts';
import { stripInjectedNulls } from './injected-nulls.ts';
import { toStrictSchema } from './strict-schema.ts';

const SEARCH = {
  type: 'object',
  properties: {
    query: { type: 'string', minLength: 1, description: 'what to look for' },
    limit: { type: 'integer', minimum: 1, default: 10 },
    order: { enum: ['asc', 'desc'] },
    since: { type: ['string', 'null'], format: 'date' },
    near: {
      type: 'object',
      properties: { lat: { type: 'number' }, name: { type: 'string' } },
      required: ['lat'],
    },
    tags: { type: 'array', items: { type: 'string' }, uniqueItems: true },
    place: { $ref: '#/$defs/place' },
    either: { anyOf: [{ type: 'string' }, { type: 'integer' }] },
  },
  required: ['query'],
  $defs: { place: { type: 'object', properties: { id: { const: 'home' } }, required: ['id'] } },
} as const;

describe('strict schemas', () => {
  it('require every property, close every object, and allow null for an omitted one', () => {
    const { strict, schema, lost } = toStrictSchema(SEARCH);
    expect(strict).toBe(true);
    expect(schema).toEqual({
      type: 'object',
      properties: {
        query: { type: 'string', description: 'what to look for' },
        limit: { type: ['integer', 'null'], minimum: 1 },
        order: { enum: ['asc', 'desc', null] },
        since: { type: ['string', 'null'], format: 'date' },
        near: {
          type: ['object', 'null'],
          properties: { lat: { type: 'number' }, name: { type: ['string', 'null'] } },
          required: ['lat', 'name'],
          additionalProperties: false,
        },
        tags: { type: ['array', 'null'], items: { type: 'string' } },
        place: { anyOf: [{ $ref: '#/$defs/place' }, { type: 'null' }] },
        either: { anyOf: [{ type: 'string' }, { type: 'integer' }, { type: 'null' }] },
      },
      required: ['query', 'limit', 'order', 'since', 'near', 'tags', 'place', 'either'],
      additionalProperties: false,
      $defs: {
        place: {
          type: 'object',
          properties: { id: { enum: ['home'] } },
          required: ['id'],
          additionalProperties: false,
        },
      },
    });
    expect(lost).toEqual([
      { path: '/properties/query', keyword: 'minLength' },
      { path: '/properties/limit', keyword: 'default' },
      { path: '/properties/tags', keyword: 'uniqueItems' },
    ]);
  });

  it.each([
    [{ type: 'object', properties: { env: { type: 'object' } } }, '/properties/env', 'additionalProperties'],
    [{ type: 'object', additionalProperties: { type: 'string' } }, '', 'additionalProperties'],
    [{ type: 'object', properties: { a: { oneOf: [{ type: 'string' }] } } }, '/properties/a', 'oneOf'],
    [{ type: 'object', properties: { a: {} } }, '/properties/a', 'type'],
    [{ type: 'object', properties: { a: { type: 'array' } } }, '/properties/a', 'items'],
    [{ type: 'object', properties: { a: true } }, '/properties/a', 'true'],
    [{ type: 'object', properties: { a: [{ toString: '' }] } }, '/properties/a', 'array'],
    [{ type: 'object', patternProperties: {} }, '', 'patternProperties'],
    [{ type: 'object' }, '', 'additionalProperties'],
  ])('are not made of %j, and the schema stays as it is', (given, path, keyword) => {
    const { strict, schema, lost } = toStrictSchema(given);
    expect(strict).toBe(false);
    expect(schema).toEqual(given);
    expect(lost).toContainEqual({ path, keyword });
  });

  it('contain nothing that strict mode rejects, for any schema', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const { strict, schema } = toStrictSchema({ type: 'object', properties: { it: value } } as never);
        expect(schema['type']).toBe('object');
        if (strict) expect(schema['additionalProperties']).toBe(false);
      }),
    );
  });

  it('accept the arguments of a model, which are converted back for the tool', () => {
    const compile = (schema: unknown): ((value: unknown) => unknown) => {
      const compiled = jsonSchemas().compile(schema as never, 'own');
      if (!compiled.ok) throw new Error(reasonText(compiled.problem));
      return compiled.validate;
    };
    const strict = compile(toStrictSchema(SEARCH).schema);
    const original = compile(SEARCH);
    const written = {
      query: 'x',
      limit: null,
      order: null,
      since: null,
      near: { lat: 1, name: null },
      tags: null,
      place: null,
      either: null,
    };
    expect(strict(written)).toBeNull();
    const given = stripInjectedNulls(SEARCH, written);
    expect(given).toEqual({ query: 'x', since: null, near: { lat: 1 } });
    expect(original(given)).toBeNull();
  });

  it('keep a null that is required, allowed, or not in the schema', () => {
    const schema = {
      properties: { a: { type: 'string' }, b: { type: ['string', 'null'] }, c: {} },
      required: ['a'],
    };
    const args = { a: null, b: null, c: null, d: null };
    expect(stripInjectedNulls(schema, args)).toEqual(args);
    expect(stripInjectedNulls(true, args)).toEqual(args);
  });
});
