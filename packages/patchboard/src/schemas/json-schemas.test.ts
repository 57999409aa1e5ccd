// oxlint-disable unicorn/no-thenable -- "then" is a keyword of JSON Schema
import { isReason, reasonText, type JsonSchema } from '@patchboard/wire';
import { describe, expect, it } from 'vitest';
import { jsonSchemas } from './json-schemas.ts';

const ORIGINS = ['own', 'outside'] as const;
type Origin = (typeof ORIGINS)[number];

function problemOf(schema: unknown, origin: Origin = 'outside'): string {
  const compiled = jsonSchemas().compile(schema as JsonSchema, origin);
  return compiled.ok ? 'accepted' : reasonText(compiled.problem);
}

function issuesOf(schema: unknown, value: unknown, origin: Origin = 'outside') {
  const compiled = jsonSchemas().compile(schema as JsonSchema, origin);
  if (!compiled.ok) throw new Error(reasonText(compiled.problem));
  return compiled.validate(value)?.map(({ path, message }) => ({ path, message })) ?? null;
}

function reasonsOf(schema: unknown, value: unknown, origin: Origin) {
  const compiled = jsonSchemas().compile(schema as JsonSchema, origin);
  if (!compiled.ok) throw new Error(reasonText(compiled.problem));
  return compiled.validate(value)?.map(({ reasons }) => reasons);
}

function nested(depth: number, wrap: (inner: unknown) => unknown, innermost: unknown): unknown {
  let value = innermost;
  for (let level = 0; level < depth; level += 1) value = wrap(value);
  return value;
}

const listOf = <Item>(length: number, make: (place: number) => Item) =>
  Array.from({ length }, (_, place) => make(place));
const TOO_MUCH = [
  { path: '', message: 'is too large or too deeply nested to be checked against this schema' },
];

const TREE = {
  type: 'object',
  properties: { name: { type: 'string' }, children: { type: 'array', items: { $ref: '#' } } },
  required: ['name'],
};

/** Each row: a schema, a valid value, an invalid value. */
const PASSING: [unknown, unknown, unknown][] = [
  [{ type: 'string' }, 'x', 1],
  [{ type: ['string', 'null'] }, null, 1],
  [{ type: 'integer' }, 2.0, 2.5],
  [{ enum: ['a', { b: [1] }] }, { b: [1] }, { b: [2] }],
  [{ const: null }, null, 0],
  [{ minimum: 1, exclusiveMaximum: 3 }, 2, 3],
  [{ multipleOf: 0.5 }, 1.5, 1.4],
  [{ multipleOf: 0.01 }, 19.99, 19.999],
  [{ multipleOf: 0.1 }, -0.3, -0.35],
  [{ multipleOf: 1e-8 }, 12391239123, 1e-9],
  [{ multipleOf: 2 }, 1e308, 2.5],
  [{ multipleOf: 3 }, 3e300, 1e308],
  // `JSON.parse` reads 1e999 as Infinity, such as in the result of an upstream.
  [{ multipleOf: 0.5 }, 1.5, Infinity],
  [{ multipleOf: 2 }, 4, -Infinity],
  [{ minLength: 2, maxLength: 2 }, '😀a', '😀'],
  [{ pattern: '^\\p{Lu}+$' }, 'ÄÖ', 'äö'],
  [{ pattern: '^[\\u4e00-\\u9fa5]+$' }, '天气', 'x'],
  [{ pattern: '^a.b\\s$' }, 'axb\u00a0', 'a\rb '],
  [{ format: 'email' }, 'a@b.co', 'a@'],
  [{ format: 'date-time' }, '2026-01-02T03:04:05Z', '2026-13-02T03:04:05Z'],
  [{ format: 'url' }, 'https://a.example/x?y=1', 'mailto:a@b.co'],
  [{ format: 'regex' }, '(?=a)', '('],
  [{ format: 'int32' }, 2_147_483_647, 2_147_483_648],
  [{ minItems: 1, maxItems: 2 }, [1], []],
  [
    { uniqueItems: true },
    [1, '1', [1], { a: 1 }, '{"a":1}'],
    [
      { a: 1, b: 2 },
      { b: 2, a: 1 },
    ],
  ],
  [{ contains: { const: 1 }, minContains: 2, maxContains: 2 }, [1, 2, 1], [1, 1, 1]],
  [{ contains: { const: 1 }, minContains: 0 }, [], undefined],
  [{ items: { contains: { type: 'string' } } }, [['a'], ['b']], [['a'], []]],
  [{ prefixItems: [{ type: 'string' }], items: { type: 'number' } }, ['a', 1], ['a', 'b']],
  [{ items: [{ type: 'string' }], additionalItems: false }, ['a'], ['a', 1]],
  [{ required: ['toString'] }, { toString: 1 }, {}],
  [{ properties: { constructor: { type: 'string' } } }, {}, { constructor: 1 }],
  [{ minProperties: 1, maxProperties: 1 }, { a: 1 }, {}],
  [{ dependentRequired: { a: ['b'] } }, { b: 1 }, { a: 1 }],
  [{ dependencies: { a: ['b'], c: { required: ['d'] } } }, { a: 1, b: 1 }, { c: 1 }],
  [
    { properties: { a: true }, patternProperties: { '^x': { type: 'number' } }, additionalProperties: false },
    { a: 1, x1: 2 },
    { y: 1 },
  ],
  [{ propertyNames: { maxLength: 1 } }, { a: 1 }, { ab: 1 }],
  [{ allOf: [{ minimum: 1 }, { maximum: 2 }] }, 1, 3],
  [{ anyOf: [{ type: 'string' }, { minimum: 5 }] }, 6, 4],
  [{ oneOf: [{ minimum: 1 }, { maximum: 5 }] }, 0, 3],
  [{ not: { type: 'string' } }, 1, 'x'],
  [{ if: { type: 'string' }, then: { minLength: 2 }, else: { minimum: 2 } }, 'ab', 1],
  [{ allOf: [{ properties: { a: true } }], unevaluatedProperties: false }, { a: 1 }, { b: 1 }],
  [
    {
      anyOf: [{ required: ['a'], properties: { a: true } }, { properties: { b: true } }],
      unevaluatedProperties: false,
    },
    { a: 1, b: 2 },
    { c: 1 },
  ],
  [{ prefixItems: [true], unevaluatedItems: false }, [1], [1, 2]],
  [{ allOf: [{ properties: { a: true } }, { unevaluatedProperties: false }] }, {}, { a: 1 }],
  [
    {
      if: { required: ['a'], properties: { a: { const: 1 } } },
      then: { properties: { b: true } },
      else: { properties: { c: true } },
      unevaluatedProperties: false,
    },
    { a: 1, b: 2 },
    { a: 2, c: 1 },
  ],
  [{ not: { not: { properties: { a: true } } }, unevaluatedProperties: false }, {}, { a: 1 }],
  [
    {
      dependentSchemas: { a: { properties: { b: true } } },
      properties: { a: true },
      unevaluatedProperties: false,
    },
    { a: 1, b: 1 },
    { b: 1 },
  ],
  [
    {
      $ref: '#/$defs/x',
      $defs: { x: { properties: { a: true } } },
      unevaluatedProperties: { type: 'string' },
    },
    { a: 1, b: 'x' },
    { b: 1 },
  ],
  [
    { properties: { a: { unevaluatedProperties: false, properties: { b: true } } } },
    { a: { b: 1 } },
    { a: { c: 1 } },
  ],
  [
    { patternProperties: { '^x': true }, anyOf: [{ unevaluatedProperties: false }, { required: ['y'] }] },
    { y: 1 },
    { x: 1 },
  ],
  [{ additionalProperties: { type: 'number' }, unevaluatedProperties: false }, { a: 1 }, { a: 'x' }],
  [{ contains: { type: 'string' }, unevaluatedItems: { type: 'number' } }, ['a', 1], ['a', null]],
  [
    { allOf: [{ prefixItems: [true] }, { items: { type: 'number' } }], unevaluatedItems: false },
    [1, 2],
    ['a', 'b'],
  ],
  [{ $ref: '#/definitions/a', definitions: { a: { type: 'string' } } }, 'x', 1],
  [{ $ref: '#/components/a~1b', components: { 'a/b': { type: 'string' } } }, 'x', 1],
  [{ $ref: '#named', $defs: { x: { $anchor: 'named', type: 'string' } } }, 'x', 1],
  [
    { $id: 'https://a.example/s', $ref: 'https://a.example/s#/$defs/x', $defs: { x: { type: 'string' } } },
    'x',
    1,
  ],
  [
    { $dynamicAnchor: 'node', properties: { next: { $dynamicRef: '#node' } }, type: 'object' },
    { next: {} },
    { next: 1 },
  ],
  [
    {
      $ref: '#/$defs/a',
      $dynamicRef: '#b',
      $defs: { a: { minimum: 1 }, b: { $dynamicAnchor: 'b', maximum: 2 } },
    },
    1,
    3,
  ],
  [{ type: 'string', nullable: true }, null, 1],
  [{ minimum: 1, exclusiveMinimum: true }, 2, 1],
  [{ maximum: 3, exclusiveMaximum: true }, 2, 3],
  [{ maximum: 3, exclusiveMaximum: false }, 3, 4],
  [{ exclusiveMinimum: true, maximum: 3 }, -5, 4],
  [{ $schema: 'http://json-schema.org/draft-07/schema#', type: 'string' }, 'x', 1],
  [{ $schema: 'https://nobody.example/schema', type: 'string' }, 'x', 1],
  [{ $async: true, type: 'string' }, 'x', 1],
  [{ 'x-anything': { $id: 7 }, format: 'made-up', type: 'string' }, 'x', 1],
  [{ type: 'integer', default: 3 }, 1, undefined],
  [TREE, { name: 'a', children: [{ name: 'b', children: [] }] }, { name: 'a', children: [{}] }],
  [true, 1, undefined],
  [{}, 1, undefined],
];

describe.each(ORIGINS)('a schema of origin %s', (origin) => {
  it.each(PASSING)('%j accepts %j and not %j', (schema, good, bad) => {
    expect(issuesOf(schema, good, origin)).toBeNull();
    if (bad !== undefined) expect(issuesOf(schema, bad, origin)).not.toBeNull();
  });

  it('false accepts nothing', () => {
    expect(issuesOf(false, 1, origin)).toEqual([{ path: '', message: 'is not allowed' }]);
  });

  it.each([
    [{ type: 'strnig' }, 'at /type: must be one of array, boolean'],
    [{ properties: { a: { required: 'x' } } }, 'at /properties/a/required: must be a list of strings'],
    [{ items: { pattern: '(' } }, 'at /items/pattern: is no regular expression'],
    [{ patternProperties: { '[': true } }, 'at /patternProperties/[: is no regular expression'],
    [{ properties: { 'a/b': 1 } }, 'at /properties/a~1b: a schema must be an object or a boolean'],
    [{ properties: [] }, 'at /properties: must be an object of schemas'],
    [{ allOf: {} }, 'at /allOf: must be a list with at least one schema'],
    [{ enum: [] }, 'at /enum: must be a list with at least one value'],
    [{ minimum: '1' }, 'at /minimum: must be a number'],
    [{ multipleOf: 0 }, 'at /multipleOf: must be a number above 0'],
    [{ minLength: -1 }, 'at /minLength: must be a whole number'],
    [{ dependentRequired: { a: 'b' } }, 'at /dependentRequired: must be an object of lists of strings'],
    [{ uniqueItems: 'yes' }, 'at /uniqueItems: must be true or false'],
    [{ $ref: 1 }, 'at /$ref: must be a string'],
    [{ $ref: '#/$defs/none' }, 'at /$ref: the reference "#/$defs/none" points to nothing'],
    [{ $ref: '#/type', type: 'string' }, 'at /type: a schema must be an object or a boolean'],
    [{ items: { $ref: 'https://evil.example/s' } }, 'points outside the schema, which is never fetched'],
    [{ $ref: 'file:///etc/passwd' }, 'points outside the schema'],
    [{ $ref: '#' }, 'leads back to itself'],
    [
      {
        $ref: '#/$defs/a',
        $defs: { a: { allOf: [{ $ref: '#/$defs/b' }] }, b: { not: { $ref: '#/$defs/a' } } },
      },
      'leads back to itself',
    ],
    [
      { properties: { a: { $id: 'https://a.example/inner' } } },
      'at /properties/a: an inner "$id" is not supported',
    ],
    [{ properties: { ['__proto__']: { type: 'string' } } }, 'the key "__proto__" is not allowed'],
    [{ const: { constructor: { prototype: 1 } } }, 'the key "prototype" under "constructor" is not allowed'],
    [
      { properties: { a: { description: 'fine\u200bhidden' } } },
      'at /properties/a/description: holds control, bidirectional, zero-width or filler',
    ],
    [{ enum: ['a\u202eb'] }, 'at /enum/0: holds control'],
    ['string', 'a schema must be an object or a boolean'],
    [null, 'a schema must be an object or a boolean'],
    [undefined, 'must be a JSON object or a boolean'],
  ])('is refused: %j', (schema, problem) => {
    expect(problemOf(schema, origin)).toContain(problem);
  });

  it('reports each issue with its path', () => {
    const schema = {
      type: 'object',
      properties: {
        url: { type: 'string' },
        'a/b': { enum: ['x', 'y'] },
        n: { type: ['integer', 'null'], minimum: 1 },
      },
      required: ['url'],
      additionalProperties: false,
    };
    const issues = issuesOf(schema, { 'a/b': 'z', n: 0, extra: 1 }, origin);
    expect(issues).toHaveLength(4);
    expect(issues).toEqual(
      expect.arrayContaining([
        { path: '', message: "must have required property 'url'" },
        { path: '', message: 'must not have the property "extra"' },
        { path: '/a~1b', message: 'must be one of "x", "y"' },
        { path: '/n', message: 'must be >= 1' },
      ]),
    );
  });

  it.each([
    [{ type: ['integer', 'null'] }, 'x', 'issue_type'],
    [{ enum: ['a'] }, 'x', 'issue_enum'],
    [{ const: 1 }, 'x', 'issue_const'],
    [{ minimum: 2 }, 1, 'issue_minimum'],
    [{ exclusiveMaximum: 2 }, 2, 'issue_exclusive_maximum'],
    [{ multipleOf: 2 }, 1, 'issue_multiple_of'],
    [{ minLength: 2 }, 'x', 'issue_min_length'],
    [{ pattern: '^a' }, 'x', 'issue_pattern'],
    [{ format: 'email' }, 'x', 'issue_format'],
    [{ maxItems: 1 }, [1, 2], 'issue_max_items'],
    [{ uniqueItems: true }, [1, 1], 'issue_unique_items'],
    [{ minProperties: 1 }, {}, 'issue_min_properties'],
    [{ required: ['a'] }, {}, 'issue_required'],
    [{ additionalProperties: false }, { a: 1 }, 'issue_additional_property'],
    [{ not: {} }, 1, 'issue_not'],
    [false, 1, 'issue_not_allowed'],
  ])('says what is wrong as data: %j', (schema, value, code) => {
    const reasons = reasonsOf(schema, value, origin);
    expect(reasons).toMatchObject([[{ code }]]);
    expect(reasons?.flat().every((one) => isReason(one))).toBe(true);
  });

  it('reports at most 20 issues, each of bounded length', () => {
    const schema = { items: { enum: listOf(500, (place) => `value ${place}`) } };
    const issues = issuesOf(schema, listOf(100, String), origin);
    expect(issues).toHaveLength(20);
    expect(issues?.every(({ message }) => message.length <= 300)).toBe(true);
    expect(issuesOf(schema, listOf(100_000, String), origin)?.length).toBeLessThanOrEqual(20);
    const long = 'k'.repeat(100_000);
    const [issue] = issuesOf({ additionalProperties: { type: 'string' } }, { [long]: 1 }, origin) ?? [];
    expect(issue?.path.length).toBeLessThanOrEqual(500);
  });

  it('changes neither the value nor the schema', () => {
    const schema = { properties: { a: { type: 'integer', default: 3 }, b: { type: 'number' } } };
    const value = { b: '5' };
    expect(issuesOf(schema, value, origin)).not.toBeNull();
    expect(value).toEqual({ b: '5' });
    expect(issuesOf(schema, {}, origin)).toBeNull();
  });

  it('takes a member that is undefined as absent, as JSON text does', () => {
    const schema = { properties: { a: { type: 'string' } }, dependentRequired: { a: ['b'] } };
    expect(issuesOf(schema, { a: undefined }, origin)).toBeNull();
    expect(issuesOf({ required: ['a'] }, { a: undefined }, origin)).toEqual([
      { path: '', message: "must have required property 'a'" },
    ]);
  });

  it.each([
    ['', false],
    ['a', false],
    ['😀', false],
    ['ab', true],
    ['a😀', true],
    ['😀😀😀', true],
    ['😀😀😀😀', false],
    ['abcd', false],
  ])('counts the characters of %j, a pair of surrogates as one', (text, isValid) => {
    expect(issuesOf({ minLength: 2, maxLength: 3 }, text, origin) === null).toBe(isValid);
  });

  it('does not change when the source object changes', () => {
    const schema: Record<string, unknown> = { type: 'string' };
    const compiled = jsonSchemas().compile(schema, origin);
    schema['type'] = 'number';
    expect(compiled.ok && compiled.validate('x')).toBeNull();
  });

  it('does not share its $id with other schemas', () => {
    const schemas = jsonSchemas();
    const $id = 'https://a.example/same';
    const one = schemas.compile({ $id, type: 'string' }, origin);
    const other = schemas.compile({ $id, type: 'number' }, origin);
    expect(one.ok && one.validate('x')).toBeNull();
    expect(other.ok && other.validate(1)).toBeNull();
    expect(schemas.compile({ $ref: $id }, origin).ok).toBe(false);
  });

  it('is compiled once per text', () => {
    const schemas = jsonSchemas();
    const first = schemas.compile({ type: 'string' }, origin);
    expect(schemas.compile({ type: 'string' }, origin)).toBe(first);
    expect(jsonSchemas({ cachedChars: 10 }).compile({ type: 'string' }, origin)).not.toBe(first);
  });

  it('compares a long list of objects for uniqueness in linear time', () => {
    // A comparison of all pairs would take a hundred million steps.
    const items = listOf(15_000, (place) => [place]);
    expect(issuesOf({ uniqueItems: true }, items, origin)).toBeNull();
    expect(issuesOf({ uniqueItems: true }, [...items, [7]], origin)).not.toBeNull();
  });
});

describe('a schema from outside', () => {
  it.each([
    ['bytes', { description: 'x'.repeat(65_536) }, 'larger than 65536 bytes'],
    ['depth', nested(40, (not) => ({ not }), {}), 'nested too deeply'],
    [
      'properties',
      { properties: Object.fromEntries(listOf(501, (place) => [`p${place}`, true])) },
      'more than 500 properties',
    ],
    ['keywords', { allOf: listOf(5_001, () => true) }, 'more than 5000 keywords'],
    ['a pattern', { pattern: 'x'.repeat(1_001) }, 'more than 1000 characters'],
    ['patterns', { allOf: listOf(26, (place) => ({ pattern: `a${place}` })) }, 'more than 25 patterns'],
    ['pattern sizes', { allOf: listOf(9, (place) => ({ pattern: `(a{30}){30}${place}` })) }, 'too large'],
    ['repetitions of repetitions', { pattern: '((a{99}){99}){99}' }, 'is too large a pattern'],
    ['repetitions', { pattern: '(a{1000}){1000}' }, 'is too large a pattern'],
  ])('is refused for too many %s', (_what, schema, problem) => {
    expect(problemOf(schema)).toContain(problem);
  });

  it('is accepted at the documented size', () => {
    const properties = Object.fromEntries(
      listOf(500, (place) => [
        `property_${place}`,
        { type: 'string', maxLength: 9, description: 'x'.repeat(40) },
      ]),
    );
    expect(issuesOf({ properties, additionalProperties: false }, { property_7: 'x' })).toBeNull();
  });

  it.each(['(?=a)b', '(?!a)b', '(?<=a)b', '(?<!a)b', '(a)\\1', '(?<n>a)\\k<n>'])(
    'may not use the pattern %s',
    (pattern) => {
      expect(problemOf({ pattern })).toContain('linear-time matching');
      expect(problemOf({ pattern }, 'own')).toBe('accepted');
    },
  );

  it.each(['(a+)+$', '^(a|a)*$', '(a|aa)+$', '^(([a-z])+.)+[A-Z]([a-z])+$'])(
    'runs the pattern %s in linear time',
    (pattern) => {
      expect(issuesOf({ pattern }, `${'a'.repeat(20_000)}!`)).not.toBeNull();
    },
  );

  it('spends no more on a pattern than the budget', () => {
    const text = 'ab'.repeat(200_000);
    expect(issuesOf({ pattern: '[ab]*a[ab]{200}$' }, text)).toEqual(TOO_MUCH);
    expect(issuesOf({ patternProperties: { '[ab]*a[ab]{200}$': true } }, { [text]: 1 })).toEqual(TOO_MUCH);
  });

  it('is refused when it doubles with every reference', () => {
    const doubling = (keyword: string) => ({
      $ref: '#/$defs/d0',
      $defs: Object.fromEntries(
        listOf(40, (place) => [
          `d${place}`,
          place === 39
            ? {}
            : { [keyword]: [{ $ref: `#/$defs/d${place + 1}` }, { $ref: `#/$defs/d${place + 1}` }] },
        ]),
      ),
    });
    for (const keyword of ['allOf', 'anyOf', 'oneOf'])
      expect(problemOf(doubling(keyword))).toContain('checks one value too many times');
  });

  it('stops at the step budget when a recursive schema doubles the checks at every level of the value', () => {
    const node = { oneOf: [{ properties: { x: { $ref: '#' } } }, { properties: { x: { $ref: '#' } } }] };
    expect(
      issuesOf(
        node,
        nested(60, (x) => ({ x }), {}),
      ),
    ).toEqual(TOO_MUCH);
    expect(
      issuesOf(
        node,
        nested(3, (x) => ({ x }), {}),
      ),
    ).not.toEqual(TOO_MUCH);
  });

  it('may be recursive if the checks stay within the step budget', () => {
    const expression = {
      $defs: {
        expression: {
          oneOf: [
            { type: 'number' },
            {
              type: 'object',
              properties: {
                op: { enum: ['+', '-'] },
                args: { type: 'array', items: { $ref: '#/$defs/expression' } },
              },
              required: ['op', 'args'],
            },
          ],
        },
      },
      $ref: '#/$defs/expression',
    };
    expect(
      issuesOf(
        expression,
        nested(30, (inner) => ({ op: '+', args: [1, inner] }), 2),
      ),
    ).toBeNull();
    expect(
      issuesOf(
        TREE,
        nested(30, (child) => ({ name: 'x', children: [child, child] }), { name: 'leaf' }),
      ),
    ).toEqual(TOO_MUCH);
    expect(
      issuesOf(
        TREE,
        nested(10, (child) => ({ name: 'x', children: [child, child] }), { name: 'leaf' }),
      ),
    ).toBeNull();
    const list = { type: 'object', properties: { next: { $ref: '#' } } };
    expect(
      issuesOf(
        list,
        nested(60, (next) => ({ next }), {}),
      ),
    ).toBeNull();
    expect(
      issuesOf(
        list,
        nested(100_000, (next) => ({ next }), {}),
      ),
    ).toEqual(TOO_MUCH);
  });

  it('stops at the step budget on numbers whose decimals are far apart, and accepts many prices', () => {
    const items = (multipleOf: number) => ({ items: { multipleOf } });
    expect(
      issuesOf(
        items(1e-300),
        listOf(60_000, () => 1e308),
      ),
    ).toEqual(TOO_MUCH);
    expect(
      issuesOf(
        items(0.01),
        listOf(15_000, () => 19.99),
      ),
    ).toBeNull();
  });

  it('stops at the step budget on a large value, and accepts a large value with a simple schema', () => {
    const schema = { items: { anyOf: listOf(100, (place) => ({ const: place })) } };
    expect(
      issuesOf(
        schema,
        listOf(100_000, () => 99),
      ),
    ).toEqual(TOO_MUCH);
    expect(issuesOf({ items: { type: 'integer' } }, listOf(100_000, Number))).toBeNull();
  });

  it('reports the issues found before the budget was spent', () => {
    const schema = {
      prefixItems: [{ type: 'string' }],
      items: { anyOf: listOf(100, (place) => ({ const: place })) },
    };
    expect(
      issuesOf(
        schema,
        listOf(100_000, () => 99),
      ),
    ).toEqual([{ path: '/0', message: 'must be string' }]);
  });
});
