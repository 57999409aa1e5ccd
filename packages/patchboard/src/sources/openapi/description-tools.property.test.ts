import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { importPaths, importText } from '../../../test/support/a-description.ts';
import { readDescription } from './read-description.ts';

const TEXT = fc.oneof(fc.string({ maxLength: 8 }), fc.constantFrom('a\u200bb', '\r', 'é', '\ud800'));
const REFERENCE = fc.oneof(
  fc.constantFrom('A', 'B', 'C', 'None').map((name) => `#/components/schemas/${name}`),
  fc.constantFrom(
    '#',
    '#/',
    '#/paths',
    '#/components/schemas/A/properties/a',
    'other.yaml#/A',
    '',
    '#/%zz',
    '#a',
  ),
);
/** Values where a description has no business to have them. */
const ANYTHING = fc.oneof(
  fc.constantFrom(null, true, false, 0, -1, '', [], {}, '__proto__'),
  TEXT,
  fc.jsonValue({ maxDepth: 1 }) as fc.Arbitrary<unknown>,
);

/** Mostly right, sometimes wrong. */
function mostly(right: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 8, arbitrary: right }, { weight: 1, arbitrary: ANYTHING });
}

/** Some of the members. */
function some(members: Readonly<Record<string, fc.Arbitrary<unknown>>>): fc.Arbitrary<unknown> {
  const names = fc.subarray(Object.keys(members), { maxLength: 3 });
  return names.chain((chosen) =>
    fc.record(Object.fromEntries(chosen.map((name) => [name, mostly(members[name] ?? ANYTHING)]))),
  );
}

const { schema: SCHEMA } = fc.letrec<{ schema: unknown }>((tie) => ({
  schema: fc.oneof(
    { depthSize: 'small', maxDepth: 2 },
    mostly(REFERENCE.map(($ref) => ({ $ref }))),
    some({
      type: fc.constantFrom('string', 'object', 'array', 'integer', 'file', ['string', 'null']),
      nullable: fc.boolean(),
      readOnly: fc.boolean(),
      writeOnly: fc.boolean(),
      enum: fc.array(TEXT, { minLength: 1, maxLength: 3 }),
      format: fc.constantFrom('binary', 'date', 'int32'),
      pattern: fc.constantFrom('^a', '(?=a)', '(', 'a{1001}'),
      minimum: fc.integer(),
      exclusiveMinimum: fc.boolean(),
      description: TEXT,
      example: ANYTHING,
      'x-other': ANYTHING,
    }),
    some({
      required: fc.array(fc.constantFrom('a', 'b'), { maxLength: 2 }),
      properties: fc.dictionary(fc.constantFrom('a', 'b', '__proto__', 'x y'), tie('schema'), { maxKeys: 2 }),
      additionalProperties: tie('schema'),
      items: tie('schema'),
      allOf: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }),
      oneOf: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }),
      nullable: fc.boolean(),
      discriminator: fc.record({ propertyName: TEXT }),
    }),
  ),
}));

const MEDIA = fc.constantFrom(
  'application/json',
  'application/x-www-form-urlencoded',
  'multipart/form-data',
  'text/plain',
  'image/png',
  'application/xml',
  '*/*',
);
const CONTENT = mostly(
  fc.dictionary(MEDIA, mostly(fc.record({ schema: SCHEMA }, { requiredKeys: [] })), { maxKeys: 2 }),
);
const PARAMETER = mostly(
  fc.record(
    {
      name: mostly(fc.constantFrom('a', 'b', 'body', 'Accept', 'x[y]', '__proto__')),
      in: mostly(fc.constantFrom('path', 'query', 'header', 'cookie')),
      required: mostly(fc.boolean()),
      schema: SCHEMA,
      content: CONTENT,
      style: mostly(fc.constantFrom('form', 'simple', 'deepObject')),
      description: mostly(TEXT),
    },
    { requiredKeys: ['name', 'in'] },
  ),
);
const OPERATION = fc.record(
  {
    operationId: mostly(fc.constantFrom('a', 'a/b', 'a_b', 'x'.repeat(130))),
    summary: mostly(TEXT),
    description: mostly(TEXT),
    deprecated: mostly(fc.boolean()),
    parameters: mostly(fc.array(PARAMETER, { maxLength: 2 })),
    requestBody: mostly(
      fc.record({ content: CONTENT, required: mostly(fc.boolean()) }, { requiredKeys: ['content'] }),
    ),
    responses: mostly(
      fc.dictionary(fc.constantFrom('200', '201', '2XX', 'default'), mostly(fc.record({ content: CONTENT }))),
    ),
    security: mostly(
      fc.array(fc.dictionary(fc.constantFrom('key', 'none'), mostly(fc.array(TEXT))), { maxLength: 2 }),
    ),
    servers: mostly(
      fc.array(mostly(fc.record({ url: mostly(TEXT), variables: ANYTHING })), { maxLength: 2 }),
    ),
    tags: mostly(fc.array(TEXT, { maxLength: 2 })),
  },
  { requiredKeys: [] },
);
const METHOD = fc.constantFrom('get', 'put', 'post', 'delete', 'patch', 'head', 'trace');
const DESCRIPTION = fc.record({
  openapi: fc.constantFrom('3.0.3', '3.1.0'),
  paths: fc.dictionary(
    fc.constantFrom('/a', '/a/{b}', '/{a}{b}', '/__proto__'),
    fc.dictionary(METHOD, OPERATION, { maxKeys: 2 }),
  ),
  components: fc.record({
    schemas: fc.dictionary(fc.constantFrom('A', 'B', 'C'), SCHEMA),
    securitySchemes: mostly(
      fc.dictionary(fc.constantFrom('key'), mostly(fc.record({ type: mostly(fc.constant('apiKey')) }))),
    ),
  }),
});

describe('any description', () => {
  it('becomes tools and rejected operations, each operation once', async () => {
    let [tools, rejections] = [0, 0];
    const run = fc.asyncProperty(DESCRIPTION, async (document) => {
      const imported = await importText(JSON.stringify(document));
      const operations = Object.values(document.paths).flatMap((item) => Object.keys(item));
      expect(imported.tools.length + imported.rejected.length).toBe(operations.length);
      const names = imported.tools.map(({ name }) => name);
      expect(new Set(names).size).toBe(names.length);
      for (const { reason, reasons } of imported.rejected) {
        expect(reason).not.toBe('');
        expect(reasons?.[0]?.params['pattern']).toEqual(expect.any(String));
      }
      tools += imported.tools.length;
      rejections += imported.rejected.length;
    });
    await fc.assert(run, { numRuns: 100 });
    // The generator makes both.
    expect(Math.min(tools, rejections)).toBeGreaterThan(20);
  });

  it('is read or refused, whatever the text', async () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary-ascii', maxLength: 60 }),
      fc
        .array(
          fc.constantFrom(
            'openapi: 3.1.0\n',
            'a: &a ',
            '*a',
            '[',
            '{',
            '- ',
            '\n',
            '  ',
            '"',
            '? ',
            '!!binary ',
            '<<: ',
            '---\n',
            '|\n',
          ),
        )
        .map((parts) => parts.join('')),
      fc.json(),
    );
    await fc.assert(
      fc.asyncProperty(text, async (given) => {
        expect(await readDescription(given)).toHaveProperty('ok');
      }),
      { numRuns: 200 },
    );
  });
});

describe('a description that would multiply', () => {
  const reference = (index: number): object => ({ $ref: `#/components/schemas/S${index}` });
  const schemasOf = (count: number, of: (index: number) => object): object => ({
    components: {
      schemas: Object.fromEntries(Array.from({ length: count }, (_, index) => [`S${index}`, of(index)])),
    },
  });
  const PATHS = {
    '/a': { post: { requestBody: { content: { 'application/json': { schema: reference(0) } } } } },
  };

  it.each([
    ['a chain of references', schemasOf(2_000, (index) => reference(index + 1)), 'points to nothing'],
    ['a cycle of references', schemasOf(20, (index) => reference((index + 1) % 20)), 'points to nothing'],
    [
      'schemas that each refer twice to the next',
      schemasOf(31, (index) => ({ allOf: [reference((index + 1) % 31), reference((index + 1) % 31)] })),
      'leads back to itself',
    ],
    [
      'doubling without a cycle',
      schemasOf(41, (index) =>
        index === 40 ? { type: 'string' } : { anyOf: [reference(index + 1), reference(index + 1)] },
      ),
      'checks one value too many times',
    ],
    [
      'recursive schemas, all of which are reachable',
      schemasOf(3_000, (index) => ({
        properties: { a: reference((index * 7 + 1) % 3_000), b: reference((index * 3 + 2) % 3_000) },
      })),
      'larger than 65536 bytes',
    ],
  ])('%s: the operation is rejected', async (_name, rest, problem) => {
    const { tools, rejected } = await importPaths(PATHS, rest);
    expect(tools).toEqual([]);
    expect(rejected.map(({ reason }) => reason)).toEqual([expect.stringContaining(problem)]);
  });

  it('thousands of operations that share large schemas are all looked at', async () => {
    const content = { 'application/json': { schema: reference(0) } };
    const paths = Object.fromEntries(
      Array.from({ length: 5_000 }, (_, index) => [`/p${index}`, { post: { requestBody: { content } } }]),
    );
    const large = schemasOf(200, (index) => ({
      description: 'x'.repeat(20_000),
      items: reference((index + 1) % 200),
    }));
    const { rejected } = await importPaths(paths, large);
    expect(rejected).toHaveLength(5_000);
  });

  it('more than 10000 operations are refused', async () => {
    const paths = Object.fromEntries(
      Array.from({ length: 10_001 }, (_, index) => [`/p${index}`, { get: {} }]),
    );
    await expect(importPaths(paths)).rejects.toThrow('description_many_operations');
  });
});
