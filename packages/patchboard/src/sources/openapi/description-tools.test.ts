import { describe, expect, it } from 'vitest';
import { importPaths } from '../../../test/support/a-description.ts';

const OK = { responses: {} };

describe('the tools of a description', () => {
  it('are named after operationId, or method and path', async () => {
    const { tools, rejected } = await importPaths({
      '/pets': { get: { operationId: 'listPets', ...OK }, post: { operationId: 'pets/create', ...OK } },
      '/pets/{petId}/owner-names': { get: OK },
      '/': { get: { operationId: ' ', ...OK } },
      'x-other': { get: OK },
    });
    expect(tools.map(({ name }) => name)).toEqual([
      'shop.listPets',
      'shop.pets_create',
      'shop.get_pets_petId_owner-names',
      'shop.get',
    ]);
    expect(tools[1]?.metadata).toEqual({ operation: 'POST /pets', operation_id: 'pets/create' });
    expect(rejected).toEqual([]);
  });

  it('have the annotations that HTTP gives their methods', async () => {
    const methods = ['get', 'head', 'options', 'put', 'delete', 'post', 'patch', 'trace'];
    const { tools, rejected } = await importPaths({
      '/a': Object.fromEntries(methods.map((method) => [method, { operationId: method, ...OK }])),
    });
    expect(Object.fromEntries(tools.map(({ name, annotations }) => [name, annotations]))).toEqual({
      'shop.get': { readonly: true, idempotent: true },
      'shop.head': { readonly: true, idempotent: true },
      'shop.options': { readonly: true, idempotent: true },
      'shop.put': { idempotent: true },
      'shop.delete': { idempotent: true, destructive: true },
      'shop.post': {},
      'shop.patch': {},
    });
    expect(rejected).toMatchObject([
      { name: 'shop.trace', reason: expect.stringContaining('the method TRACE is not supported') as string },
    ]);
  });

  it('have the text of the description, cut at the limit', async () => {
    const { tools } = await importPaths({
      '/a': {
        get: { summary: 'Lists.', description: 'All of them.\r\nEvery one.', ...OK },
        put: { summary: 'Puts', description: 'Puts it.', deprecated: true, ...OK },
        post: { description: 'é'.repeat(5_000), ...OK },
        patch: OK,
      },
    });
    expect(tools.map(({ description }) => description)).toEqual([
      'Lists.\n\nAll of them.\nEvery one.',
      'Deprecated.\n\nPuts it.',
      `${'é'.repeat(4_094)}…`,
      '',
    ]);
  });

  it('with hidden characters are rejected', async () => {
    const { rejected } = await importPaths({
      '/a': {
        get: { description: 'a\u200bb', ...OK },
        put: { parameters: [{ name: 'q', in: 'query', description: 'a\u202eb' }], ...OK },
      },
    });
    expect(rejected.map(({ name, reason }) => `${name}: ${reason}`)).toEqual([
      'shop.get_a: the description holds control, bidirectional, zero-width or filler characters; to leave it out, add "!get_a" to `tools`',
      'shop.put_a: at /properties/q/description: holds control, bidirectional, zero-width or filler characters; to leave it out, add "!put_a" to `tools`',
    ]);
  });
});

describe('patterns', () => {
  const PATHS = {
    '/pets': { get: { operationId: 'pets/list', ...OK }, delete: { operationId: 'pets/clear', ...OK } },
    '/orders': { get: OK },
  };

  it.each([
    [[], ['pets_list', 'pets_clear', 'get_orders'], 0],
    [['*', '!*clear'], ['pets_list', 'get_orders'], 1],
    [['pets_*'], ['pets_list', 'pets_clear'], 1],
    [['pets/*', '!DELETE *'], ['pets_list'], 2],
    [['GET *'], ['pets_list', 'get_orders'], 1],
    [['nothing'], [], 3],
  ])('%j select by name, operationId, and method and path', async (patterns, names, unselected) => {
    const imported = await importPaths(PATHS, {}, patterns);
    expect(imported.tools.map(({ name }) => name)).toEqual(names.map((name) => `shop.${name}`));
    expect(imported).toMatchObject({ unselected, rejected: [] });
  });
});

describe('an operation', () => {
  const many = (count: number): object =>
    Object.fromEntries(
      Array.from({ length: count }, (_, index) => [
        `/p${index}`,
        { get: { operationId: `pets_${index}`, ...OK } },
      ]),
    );

  it('beyond the 500th is rejected with a pattern that selects it, which helps', async () => {
    const all = await importPaths({
      ...many(499),
      '/o': { get: { operationId: 'orders/all' } },
      '/z': { get: { operationId: 'zoo.open' }, put: { operationId: 'zoos' } },
    });
    expect(all.tools).toHaveLength(500);
    expect(all.rejected).toMatchObject([
      {
        name: 'shop.zoo.open',
        code: 'too_large',
        reason: '500 operations are offered already; select fewer with `tools`, such as ["zoo.*"]',
        reasons: [{ code: 'operation_over_count', params: { count: 500, pattern: 'zoo.*' } }],
      },
      { name: 'shop.zoos', reasons: [{ params: { pattern: 'zoos' } }] },
    ]);
    const some = await importPaths({ ...many(501), '/z': { get: { operationId: 'zoo.open' } } }, {}, [
      'zoo.*',
    ]);
    expect(some.tools.map(({ name }) => name)).toEqual(['shop.zoo.open']);
  });

  it('with a name over 128 characters is rejected with the pattern that leaves it out', async () => {
    const id = 'a'.repeat(124);
    const { tools, rejected } = await importPaths({
      '/a': { get: { operationId: id }, put: { operationId: id.slice(1) } },
    });
    expect(tools.map(({ name }) => name.length)).toEqual([128]);
    expect(rejected).toMatchObject([
      {
        name: `shop.${id}`.slice(0, 128),
        code: 'name_invalid',
        reasons: [{ code: 'operation_name_long', params: { characters: 129, most: 128, pattern: `!${id}` } }],
      },
    ]);
    const paths = { '/a': { get: { operationId: id } } };
    expect(await importPaths(paths, {}, [`!${id}`])).toMatchObject({
      tools: [],
      rejected: [],
      unselected: 1,
    });
  });

  it('whose name another has is rejected with the pattern that offers it instead', async () => {
    const paths = {
      '/pets': { get: { operationId: 'pets/get', ...OK } },
      '/pet': { get: { operationId: 'pets_get', ...OK } },
    };
    const { tools, rejected } = await importPaths(paths);
    expect(tools.map(({ target }) => target)).toMatchObject([{ path: '/pets' }]);
    expect(rejected).toMatchObject([
      {
        name: 'shop.pets_get',
        code: 'name_taken',
        reason:
          'GET /pet and GET /pets both have the tool name shop.pets_get; to offer GET /pet instead, add "!GET /pets" to `tools`',
      },
    ]);
    const other = await importPaths(paths, {}, ['!GET /pets']);
    expect(other.tools.map(({ target }) => target)).toMatchObject([{ path: '/pet' }]);
    expect(other.rejected).toEqual([]);
  });
});

describe('a reference', () => {
  const COMPONENTS = {
    components: {
      parameters: {
        page: { name: 'page', in: 'query', schema: { type: 'integer' } },
        same: { $ref: '#/components/parameters/page' },
        loop: { $ref: '#/components/parameters/pool' },
        pool: { $ref: '#/components/parameters/loop' },
        far: { $ref: 'https://example.com/parameters.yaml#/page' },
      },
      responses: { gone: { $ref: './errors.yaml#/gone' } },
    },
  };
  const withParameter = (reference: string): object => ({
    '/a': {
      get: { parameters: [{ $ref: reference }], responses: { 404: { $ref: '#/components/responses/gone' } } },
    },
  });

  it.each(['page', 'same'])('within the description is followed: %s', async (name) => {
    const { tools } = await importPaths(withParameter(`#/components/parameters/${name}`), COMPONENTS);
    expect(tools[0]?.inputSchema).toMatchObject({ properties: { page: { type: 'integer' } } });
  });

  it.each([
    ['#/components/parameters/none', 'the reference #/components/parameters/none, which points to nothing'],
    ['#/components/parameters/loop', 'the reference #/components/parameters/loop, which points to nothing'],
    ['#page', 'the reference #page, which points to nothing'],
    ['#/__proto__/constructor', 'which points to nothing'],
    [
      'other.yaml#/page',
      'the reference other.yaml#/page, which points outside the description and is never fetched',
    ],
    ['file:///etc/passwd', 'the reference file:///etc/passwd, which points outside'],
    [
      '#/components/parameters/far',
      'the reference https://example.com/parameters.yaml#/page, which points outside',
    ],
  ])('%s rejects the operation that uses it', async (reference, problem) => {
    const { tools, rejected } = await importPaths(
      { ...withParameter(reference), '/b': { get: OK } },
      COMPONENTS,
    );
    expect(rejected.map(({ reason }) => reason)).toEqual([expect.stringContaining(problem)]);
    expect(tools.map(({ name }) => name)).toEqual(['shop.get_b']);
  });

  it('of a path is followed within the description, and rejects the path outside it', async () => {
    const { tools, rejected } = await importPaths(
      { '/a': { $ref: '#/components/pathItems/a' }, '/b/{id}': { $ref: 'b.yaml' } },
      { openapi: '3.1.0', components: { pathItems: { a: { get: OK } } } },
    );
    expect(tools.map(({ name }) => name)).toEqual(['shop.get_a']);
    expect(rejected).toMatchObject([
      {
        name: 'shop.b_id',
        reason: expect.stringContaining('the reference b.yaml, which points outside') as string,
      },
    ]);
  });
});
