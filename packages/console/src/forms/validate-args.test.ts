// oxlint-disable unicorn/no-thenable -- "then" is a keyword of JSON Schema
import { describe, expect, it } from 'vitest';
import { validateArgs } from './validate-args.ts';

const schema = {
  type: 'object',
  properties: {
    name: { type: 'string', minLength: 2, pattern: '^(a+)+$' },
    size: { enum: ['s', 'm'] },
    deep: {
      type: 'array',
      items: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] },
    },
    either: { anyOf: [{ type: 'string' }, { type: 'integer' }] },
  },
  required: ['name'],
  additionalProperties: false,
};

function issuesOf(value: unknown): string[] {
  return validateArgs(schema, value).map(({ path, message }) => `${path} ${message}`);
}

describe('validateArgs', () => {
  it('reports each issue once, at its path', () => {
    expect(issuesOf({ name: 'a' })).toEqual(['/name must not have fewer than 2 characters']);
    expect(issuesOf({})).toEqual([" must have required property 'name'"]);
    expect(issuesOf({ name: 'ab', size: 'x' })).toEqual(['/size must be one of "s", "m"']);
    expect(issuesOf({ name: 'ab', deep: [{ n: 1 }, { n: 'x' }] })).toEqual(['/deep/1/n must be integer']);
    expect(issuesOf({ name: 'ab', either: true })).toEqual(['/either must match a schema in anyOf']);
    expect(issuesOf({ name: 'ab', more: 1 })).toEqual(['/more is not allowed']);
  });

  it('returns no issue for valid arguments', () => {
    expect(issuesOf({ name: 'ab', size: 's', deep: [], either: 3 })).toEqual([]);
  });

  it('does not run patterns of schemas, which may never terminate', () => {
    expect(issuesOf({ name: `${'a'.repeat(40)}!` })).toEqual([]);
  });

  it('leaves members whose names a pattern decides to the server', () => {
    const byPattern = { patternProperties: { '^x-': { type: 'string' } }, additionalProperties: false };
    expect(validateArgs({ properties: { headers: byPattern } }, { headers: { 'x-a': 1 } })).toEqual([]);
  });

  it.each([
    [{ oneOf: [{ pattern: '^a' }, { pattern: '^b' }] }],
    [{ not: { pattern: '^x' } }],
    [{ if: { pattern: '^x' }, then: false }],
    [{ not: { $ref: '#/$defs/x' } }],
  ])('leaves to the server what depends on a pattern: %j', (text) => {
    const own = {
      $defs: { x: { pattern: '^x' } },
      properties: { text, not: text },
      additionalProperties: false,
    };
    expect(validateArgs(own, { text: 'abc', not: 'abc' })).toEqual([]);
  });

  it('finds which alternatives match if none has a pattern', () => {
    const own = { properties: { a: { oneOf: [{ type: 'string' }, { minLength: 1 }] } } };
    expect(validateArgs(own, { a: 'x' })).toHaveLength(1);
  });

  it('leaves an unsupported schema to the server', () => {
    expect(validateArgs({ $ref: 'https://elsewhere.example/schema' }, {})).toEqual([]);
  });
});
