import { reasonText, type JsonSchema } from '@patchboard/wire';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { scanJson } from '../core/json/json-guard.ts';
import { coerceArguments, problemsIn } from './coerce.ts';

const SCHEMA = {
  type: 'object',
  properties: {
    text: { type: 'string' },
    count: { type: 'integer' },
    ratio: { type: 'number' },
    deep: { type: 'boolean' },
    nothing: { type: 'null' },
    list: { type: 'array' },
    map: { type: 'object' },
    maybe: { anyOf: [{ type: 'integer' }, { type: 'null' }] },
    either: { type: ['string', 'integer'] },
    level: { enum: [1, 2, 'high'] },
    named: { $ref: '#/$defs/size' },
    escaped: { $ref: '#/$defs/a%20~1size' },
    anchored: { $ref: '#size' },
    anything: {},
  },
  required: ['text'],
  additionalProperties: false,
  $defs: { size: { $anchor: 'size', type: 'integer' }, 'a /size': { type: 'integer' } },
} as const;

function coerce(args: Record<string, string>): { values: Record<string, unknown>; problems: string[] } {
  const coerced = coerceArguments(SCHEMA, { text: '', ...args });
  return { values: { ...coerced.args }, problems: problemsIn(coerced).map(reasonText) };
}

describe('an argument without a property in the schema', () => {
  const only = (schema: JsonSchema) => problemsIn(coerceArguments(schema, { 'x-a': '1' })).map(reasonText);

  it('is refused if the schema is closed', () => {
    expect(only({ type: 'object', additionalProperties: false })).toEqual([expect.stringContaining('x-a')]);
  });

  it('is left to the engine if a pattern may allow it', () => {
    const patternProperties = { '^x-': { type: 'string' } };
    expect(only({ type: 'object', patternProperties, additionalProperties: false })).toEqual([]);
  });
});

describe('coercion', () => {
  it.each([
    ['text', '42', '42'],
    ['text', ' \n', ' \n'],
    ['count', ' 42\n', 42],
    ['count', '-1', -1],
    ['count', '1.0', 1],
    ['ratio', '1.5e3', 1500],
    ['deep', 'true', true],
    ['deep', 'False', false],
    ['nothing', 'null', null],
    ['list', '[1, "a"]', [1, 'a']],
    ['map', '{"a": {"b": 1}}', { a: { b: 1 } }],
    ['maybe', 'null', null],
    ['maybe', '7', 7],
    ['either', '7', '7'],
    ['level', '2', 2],
    ['level', 'high', 'high'],
    ['named', '3', 3],
    ['escaped', '3', 3],
    ['anchored', '3', '3'], // left to the engine, which knows anchors
    ['anything', '3', '3'],
  ])('%s from %j is %j', (name, raw, value) => {
    const { values, problems } = coerce({ [name]: raw });
    expect(problems).toEqual([]);
    expect(values[name]).toEqual(value);
  });

  it.each([
    ['count', '1.5', '"count" must be an integer'],
    ['count', '', '"count" must be an integer'],
    ['count', '9007199254740993', '"count" must be an integer'],
    ['ratio', 'NaN', '"ratio" must be a number'],
    ['deep', 'yes', '"deep" must be a boolean'],
    ['nothing', '', '"nothing" must be a null'],
    ['maybe', 'x', '"maybe" must be an integer|null'],
    ['list', '{"a": 1}', '"list" must be an array, written as JSON'],
    ['other', 'x', '"other" is no argument of this tool'],
  ])('%s from %j is refused', (name, raw, problem) => {
    expect(coerce(Object.fromEntries([[name, raw]])).problems).toEqual([problem]);
  });

  it('returns where JSON is malformed, and refuses JSON used in attacks', () => {
    expect(coerce({ map: '{"a": 1,\n}' }).problems[0]).toMatch(
      /^"map" must be an object, written as JSON: .* at line 2/,
    );
    expect(coerce({ map: '{"__proto__": 1}' }).problems[0]).toContain('__proto__');
    expect(coerce({ list: '['.repeat(100) + ']'.repeat(100) }).problems[0]).toContain('deep');
  });

  it('reports every argument, including missing ones', () => {
    const { report } = coerceArguments(SCHEMA, { count: '4', deep: 'maybe', extra: '1' });
    expect(report).toEqual([
      { name: 'count', raw: '4', type: 'integer', value: 4, status: 'coerced' },
      {
        name: 'deep',
        raw: 'maybe',
        type: 'boolean',
        value: 'maybe',
        status: 'invalid',
        problem: 'must be a boolean',
        reasons: [{ code: 'argument_type', params: { type: 'boolean' } }],
      },
      {
        name: 'extra',
        raw: '1',
        type: 'unknown',
        value: '1',
        status: 'unknown',
        problem: 'is no argument of this tool',
        reasons: [{ code: 'argument_unknown', params: {} }],
      },
      {
        name: 'text',
        raw: null,
        type: 'string',
        value: undefined,
        status: 'missing',
        problem: 'is required',
        reasons: [{ code: 'argument_missing', params: {} }],
      },
    ]);
  });

  it('returns any value that was written as JSON, and never throws', () => {
    const types = ['integer', 'number', 'boolean', 'null', 'array', 'object'];
    const any = { type: 'object', properties: { it: { type: types } } };
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value);
        fc.pre(typeof value !== 'string' && scanJson(text, { depth: 64, values: 100_000 }) === null);
        expect(coerceArguments(any, { it: text }).args['it']).toEqual(JSON.parse(text));
      }),
    );
    fc.assert(
      fc.property(fc.jsonValue(), fc.string(), (schema, text) => {
        const given = { properties: { it: schema } } as Record<string, unknown>;
        expect(coerceArguments(given, { it: text }).report).toHaveLength(1);
      }),
    );
  });
});
