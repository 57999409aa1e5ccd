import { describe, expect, it } from 'vitest';
import { shapeOf } from './field-shape.ts';
import { startOf } from './start-value.ts';

describe('shapeOf', () => {
  it.each([
    [
      { type: 'string', maxLength: 5000 },
      { kind: 'string', isLong: true },
    ],
    [
      { type: 'string', format: 'date' },
      { kind: 'string', format: 'date', isLong: false },
    ],
    [{ type: 'integer' }, { kind: 'number', isInteger: true }],
    [{ type: 'boolean' }, { kind: 'boolean' }],
    [{ enum: ['a', 1, null] }, { kind: 'choice', values: ['a', 1] }],
    [{ const: 7 }, { kind: 'choice', values: [7] }],
    [{ properties: { a: {} } }, { kind: 'object' }],
    [{ items: {} }, { kind: 'array' }],
    [{}, { kind: 'any' }],
    [true, { kind: 'any' }],
    [
      { oneOf: [{ const: 'x', title: 'Ex' }, { const: 'y' }] },
      { kind: 'choice', values: ['x', 'y'], titles: ['Ex', 'y'] },
    ],
  ])('%j', (schema, control) => {
    expect(shapeOf(schema, schema).control).toMatchObject(control);
  });

  it.each([
    [{ type: ['string', 'null'] }],
    [{ anyOf: [{ type: 'string' }, { type: 'null' }] }],
    [{ oneOf: [{ const: null }, { $ref: '#/$defs/name' }], $defs: { name: { type: 'string' } } }],
  ])('%j is text that may be null', (schema) => {
    expect(shapeOf(schema, schema)).toMatchObject({ isNullable: true, control: { kind: 'string' } });
  });

  it('names the alternatives of a union by title, by discriminator, or by type', () => {
    const schema = {
      anyOf: [
        { title: 'A name', type: 'string' },
        { type: 'object', properties: { kind: { const: 'at' } }, required: ['kind'] },
        { type: 'integer' },
      ],
    };
    const { control } = shapeOf(schema, schema);
    expect(control.kind === 'variants' && control.variants.map(({ title }) => title)).toEqual([
      'A name',
      'kind: at',
      'integer',
    ]);
  });

  it('follows references, and stops at cyclic and broken ones', () => {
    const schema = {
      $ref: '#/$defs/node',
      $defs: {
        node: {
          type: 'object',
          properties: {
            next: { $ref: '#/$defs/node' },
            bad: { $ref: '#/$defs/none' },
            far: { $ref: 'http://x/' },
          },
        },
        loop: { $ref: '#/$defs/loop' },
      },
    };
    const { control } = shapeOf(schema, schema);
    expect(control.kind === 'object' && control.properties.map(({ name }) => name)).toEqual([
      'next',
      'bad',
      'far',
    ]);
    expect(shapeOf({ $ref: '#/$defs/loop' }, schema).control.kind).toBe('any');
    expect(shapeOf({ $ref: '#/$defs/none' }, schema).control.kind).toBe('any');
  });

  it('merges allOf, and keeps the required properties of both', () => {
    const schema = {
      allOf: [
        { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
        { properties: { b: { type: 'integer' } }, required: ['b'] },
      ],
    };
    const { control } = shapeOf(schema, schema);
    expect(control.kind === 'object' && control.properties).toMatchObject([
      { name: 'a', isRequired: true },
      { name: 'b', isRequired: true },
    ]);
  });
});

describe('startOf', () => {
  it('starts with the default, and with constants', () => {
    expect(startOf({ type: 'integer', default: 3 }, true)).toBe('3');
    const schema = {
      type: 'object',
      properties: { kind: { const: 'at' }, when: { type: 'string' } },
      required: ['kind', 'when'],
    };
    expect(startOf(schema, schema)).toBe('{"kind":"at"}');
  });
});
