import { describe, expect, it } from 'vitest';
import { readType } from './parameter-type.ts';

describe('the type of a parameter', () => {
  it.each([
    ['string', { type: 'string' }],
    ['Number', { type: 'number' }],
    ['int', { type: 'integer' }],
    ['any', {}],
    ['string[]', { type: 'array', items: { type: 'string' } }],
    ['readonly number[][]', { type: 'array', items: { type: 'array', items: { type: 'number' } } }],
    ['Array<string | number>', { type: 'array', items: { type: ['string', 'number'] } }],
    ["'none' | 'gitignore' | 'both'", { type: 'string', enum: ['none', 'gitignore', 'both'] }],
    ['"a|b" | "c"', { type: 'string', enum: ['a|b', 'c'] }],
    ['1 | 2.5', { type: 'number', enum: [1, 2.5] }],
    ['true', { type: 'boolean', enum: [true] }],
    ['string | null', { type: ['string', 'null'] }],
    ['string | string[]', { anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] }],
    ["('a' | 'b')[]", { type: 'array', items: { type: 'string', enum: ['a', 'b'] } }],
    ['Record<string, number>', { type: 'object', additionalProperties: { type: 'number' } }],
    ['Record<string, any>', { type: 'object', additionalProperties: {} }],
    ['{ a: string; b?: number }', { type: 'object' }],
    ['[number, number]', { type: 'array' }],
    ['| string', { type: 'string' }],
    ['', {}],
  ])('is read: %s', (type, schema) => {
    expect(readType(type)).toEqual({ schema, unknown: [], isOptional: false });
  });

  it.each([
    ['GenerateTreeOptions', {}, ['GenerateTreeOptions']],
    ['Partial<Options>[]', { type: 'array', items: {} }, ['Partial<Options>']],
    ['string | Options', {}, ['Options']],
    ['(x: string) => void', {}, ['(x: string) => void']],
    ['('.repeat(50) + 'string' + ')'.repeat(50), {}, [expect.stringContaining('string') as string]],
    ['x'.repeat(3000), {}, ['x'.repeat(100)]],
  ])('takes any value where it is not known: %s', (type, schema, unknown) => {
    expect(readType(type)).toEqual({ schema, unknown, isOptional: false });
  });

  it('is optional if undefined is one of its alternatives', () => {
    expect(readType('string | undefined')).toEqual({
      schema: { type: 'string' },
      unknown: [],
      isOptional: true,
    });
  });
});
