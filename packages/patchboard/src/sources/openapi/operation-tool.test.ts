import { describe, expect, it } from 'vitest';
import { importOperation, importPaths } from '../../../test/support/a-description.ts';
import type { Operation } from './operation.ts';

const JSON_BODY = { content: { 'application/json': { schema: { type: 'object' } } } };

describe('the input of an operation', () => {
  it('has the parameters and the body as members', async () => {
    const { tools } = await importPaths({
      '/pets/{petId}': {
        parameters: [
          {
            name: 'petId',
            in: 'path',
            required: true,
            description: 'Which one.',
            schema: { type: 'integer' },
          },
          { name: 'limit', in: 'query', schema: { type: 'string' } },
        ],
        put: {
          parameters: [
            {
              name: 'limit',
              in: 'query',
              schema: { type: 'integer', maximum: 10 },
              example: 5,
              deprecated: true,
            },
            { name: 'X-Trace', in: 'header', required: true, schema: { type: 'string' } },
            { name: 'session', in: 'cookie', schema: { type: 'string' } },
            { name: 'filter', in: 'query', content: { 'application/json': { schema: { type: 'object' } } } },
            { name: 'Accept', in: 'header', schema: { type: 'string' } },
            { name: 'content-type', in: 'header', schema: { type: 'string' } },
            { name: 'Authorization', in: 'header', schema: { type: 'string' } },
          ],
          requestBody: { required: true, description: 'The pet.', ...JSON_BODY },
        },
      },
    });
    expect(tools[0]?.inputSchema).toEqual({
      type: 'object',
      properties: {
        petId: { type: 'integer', description: 'Which one.' },
        limit: { type: 'integer', maximum: 10, deprecated: true, examples: [5] },
        'X-Trace': { type: 'string' },
        session: { type: 'string' },
        filter: { type: 'object' },
        body: { type: 'object', description: 'The pet.' },
      },
      required: ['petId', 'X-Trace', 'body'],
      additionalProperties: false,
    });
    expect(tools[0]?.target).toEqual({
      method: 'PUT',
      path: '/pets/{petId}',
      parameters: [
        {
          name: 'petId',
          in: 'path',
          argument: 'petId',
          style: 'simple',
          explode: false,
          allowReserved: false,
        },
        { name: 'limit', in: 'query', argument: 'limit', style: 'form', explode: true, allowReserved: false },
        {
          name: 'X-Trace',
          in: 'header',
          argument: 'X-Trace',
          style: 'simple',
          explode: false,
          allowReserved: false,
        },
        {
          name: 'session',
          in: 'cookie',
          argument: 'session',
          style: 'form',
          explode: true,
          allowReserved: false,
        },
        {
          name: 'filter',
          in: 'query',
          argument: 'filter',
          style: 'form',
          explode: true,
          allowReserved: false,
          mediaType: 'application/json',
        },
      ],
      body: { argument: 'body', mediaType: 'application/json', required: true },
      security: [],
    } satisfies Operation);
  });

  it('gives parameters of one name their place, and names that models accept', async () => {
    const parameters = [
      { name: 'id', in: 'query' },
      { name: 'id', in: 'header' },
      { name: 'body', in: 'query' },
      { name: 'filter[name]', in: 'query' },
      { name: 'filter{name}', in: 'query' },
      { name: 'n'.repeat(80), in: 'query' },
      { name: 'x-id', in: 'header', required: true },
      { name: 'X-ID', in: 'header' },
    ];
    const { inputSchema, target } = await importOperation({ parameters, requestBody: JSON_BODY });
    const names = [
      'query_id',
      'header_id',
      'query_body',
      'query_filter_name_',
      'query_filter_name__2',
      'n'.repeat(64),
      'X-ID',
    ];
    expect(Object.keys((inputSchema as { properties: object }).properties)).toEqual([...names, 'body']);
    expect((target as Operation).parameters.map(({ argument }) => argument)).toEqual(names);
    expect(inputSchema).not.toHaveProperty('required');
  });

  it('has the placeholders of the path that no parameter describes, and no others', async () => {
    const { tools } = await importPaths({
      '/a/{one}/{two}': {
        get: {
          parameters: [
            { name: 'two', in: 'path' },
            { name: 'three', in: 'path' },
          ],
        },
      },
    });
    expect(tools[0]?.inputSchema).toMatchObject({
      properties: { one: { type: 'string' }, two: {} },
      required: ['one', 'two'],
    });
    expect(tools[0]?.target).toMatchObject({ parameters: [{ name: 'one' }, { name: 'two' }] });
  });

  it.each([
    [{ parameters: {} }, 'parameters of the operation is not what OpenAPI requires there'],
    [{ parameters: [7] }, 'a parameter is not'],
    [{ parameters: [{ in: 'query' }] }, 'the name of a parameter is not'],
    [{ parameters: [{ name: 'a', in: 'body' }] }, '`in` of the parameter a is not'],
    [
      { parameters: [{ name: 'a', in: 'query', schema: { type: 'integre' } }] },
      'at /properties/a/type: must be one of',
    ],
    [
      { parameters: Array.from({ length: 501 }, (_, index) => ({ name: `p${index}`, in: 'query' })) },
      'more than 500 properties',
    ],
    [{ parameters: [{ name: '__proto__', in: 'query' }] }, '__proto__'],
    [{ requestBody: { content: [] } }, '`requestBody` is not'],
    [
      { requestBody: { content: { 'application/xml': { schema: { type: 'object' } } } } },
      'its body has the media type application/xml; supported are JSON, forms',
    ],
  ])('is refused in %j', async (operation, problem) => {
    await expect(importOperation(operation)).rejects.toThrow(problem);
  });

  it('has no body with GET, which rejects an operation that requires one', async () => {
    const { tools, rejected } = await importPaths({
      '/a': { get: { requestBody: JSON_BODY }, head: { requestBody: { required: true, ...JSON_BODY } } },
    });
    expect(tools.map(({ target }) => target)).toMatchObject([{ method: 'GET', body: null }]);
    expect(rejected.map(({ reason }) => reason)).toEqual([
      expect.stringContaining('a HEAD request cannot have a body'),
    ]);
  });
});

describe('the body of an operation', () => {
  const string = { schema: { type: 'string' } };
  const bytes = { schema: { type: 'string', format: 'binary' } };
  const BASE64 = { type: 'string', contentEncoding: 'base64' };

  it.each([
    [['text/plain', 'application/vnd.pet+json', 'application/json'], 'application/json'],
    [['multipart/form-data', 'application/vnd.pet+json; v=2'], 'application/vnd.pet+json; v=2'],
    [
      ['text/plain', 'multipart/form-data', 'application/x-www-form-urlencoded'],
      'application/x-www-form-urlencoded',
    ],
    [['text/plain', 'multipart/form-data'], 'multipart/form-data'],
    [['application/xml', 'text/plain'], 'text/plain'],
    [['application/xml', '*/*'], '*/*'],
  ])('of %j is sent as %s', async (types, mediaType) => {
    const content = Object.fromEntries(types.map((type) => [type, { schema: { type: 'object' } }]));
    const { target } = await importOperation({ requestBody: { content } });
    expect(target).toMatchObject({ body: { mediaType } });
  });

  it.each([
    ['text/csv', {}, { type: 'string' }, undefined],
    ['application/jwt', string, { type: 'string' }, undefined],
    ['application/octet-stream', {}, BASE64, true],
    ['image/png', {}, BASE64, true],
    ['application/pdf', bytes, BASE64, true],
    ['*/*', bytes, BASE64, true],
  ])('of %s is text, or bytes as base64', async (mediaType, media, schema, binary) => {
    const { target, inputSchema } = await importOperation({
      requestBody: { content: { [mediaType]: media } },
    });
    expect((target as Operation).body).toEqual({
      argument: 'body',
      mediaType,
      required: false,
      ...(binary === undefined ? {} : { binary }),
    });
    expect(inputSchema).toMatchObject({ properties: { body: schema } });
  });

  it('of a form has its files as base64, and its encoding', async () => {
    const { target, inputSchema } = await importOperation(
      {
        requestBody: {
          content: {
            'multipart/form-data': {
              schema: {
                allOf: [{ $ref: '#/components/schemas/Upload' }],
                properties: { note: { type: 'string' }, photos: { type: 'array', items: bytes.schema } },
              },
              encoding: {
                file: { contentType: 'image/png' },
                tags: { style: 'spaceDelimited', explode: false },
              },
            },
          },
        },
      },
      {
        components: {
          schemas: {
            Upload: { properties: { file: { $ref: '#/components/schemas/File' } } },
            File: bytes.schema,
          },
        },
      },
    );
    expect((target as Operation).body?.encoding).toEqual({
      file: { contentType: 'image/png', binary: true },
      photos: { binary: true },
      tags: { style: 'spaceDelimited', explode: false },
    });
    expect(inputSchema).toMatchObject({
      properties: { body: { properties: { photos: { type: 'array', items: BASE64 } } } },
      $defs: { File: BASE64 },
    });
  });
});

describe('the output of an operation', () => {
  const json = (schema: object): object => ({ content: { 'application/json': { schema } } });
  const A = { type: 'object', properties: { a: { type: 'string' } } };

  it.each([
    ['one response', { 200: json(A), 404: json({ type: 'string' }) }, A],
    ['the same schema twice', { 200: json(A), '2XX': json({ ...A }) }, A],
    ['different schemas', { 200: json(A), 201: json({ type: 'string' }) }, null],
    ['a response without a body', { 200: json(A), 204: {} }, null],
    ['a response of text', { 200: { content: { 'text/plain': { schema: A } } } }, null],
    ['JSON without a schema', { 200: { content: { 'application/json': {} } } }, null],
    ['a default only', { default: json(A) }, null],
    ['no response', {}, null],
  ])('with %s', async (_name, responses, schema) => {
    expect((await importOperation({ responses })).outputSchema).toEqual(schema);
  });

  it('requests JSON where there is JSON', async () => {
    const responses = {
      200: { content: { 'application/xml': {}, 'application/json': {}, 'application/hal+json': {} } },
      201: { content: { 'text/csv': {}, 'text/plain': {} } },
    };
    const { target } = await importOperation({ responses });
    expect(target).toMatchObject({
      accept: ['application/json', 'application/hal+json', 'text/csv', 'text/plain'],
    });
  });

  it('beyond the limits is left out, and the metadata says why', async () => {
    const properties = Object.fromEntries(Array.from({ length: 501 }, (_, index) => [`p${index}`, {}]));
    const many = await importOperation({ responses: { 200: json({ type: 'object', properties }) } });
    expect(many.outputSchema).toBeNull();
    expect(many.metadata).toMatchObject({
      output_schema_left_out: {
        params: { problem: [{ code: 'schema_many_properties', params: { count: 500 } }] },
      },
    });
    const big = { description: 'x'.repeat(70_000) };
    const large = await importOperation(
      { responses: { 200: json({ $ref: '#/components/schemas/Big' }) } },
      {
        components: {
          schemas: { Big: { properties: { big: { $ref: '#/components/schemas/Large' } } }, Large: big },
        },
      },
    );
    expect(large.metadata).toMatchObject({ output_schema_left_out: { code: 'schema_over_bytes' } });
  });

  it('with a reference to nothing rejects the operation', async () => {
    const responses = { 200: json({ $ref: '#/components/schemas/None' }) };
    await expect(importOperation({ responses })).rejects.toThrow('which points to nothing');
  });
});

describe('the target of an operation', () => {
  it.each([
    [{}, {}, undefined],
    [
      {},
      { servers: [{ url: 'https://{env}.example/{v}', variables: { env: { default: 'test' } } }] },
      'https://test.example/{v}',
    ],
    [{ servers: [{ url: '/v2' }] }, { servers: [{ url: 'https://a.example' }] }, '/v2'],
  ])('has the nearest server: %j', async (operation, rest, server) => {
    const { target } = await importOperation(operation, rest);
    expect((target as Operation).server).toBe(server);
  });

  it('has the security of the operation, else of the document', async () => {
    const rest = {
      security: [{ key: [] }],
      components: {
        securitySchemes: {
          key: { type: 'apiKey', in: 'header', name: 'X-Key' },
          login: { type: 'http', scheme: 'Basic' },
          oauth: { type: 'oauth2', flows: { clientCredentials: { tokenUrl: 'https://a.example/token' } } },
          odd: { type: 'apiKey', in: 'body' },
        },
      },
    };
    const key = { name: 'key', scopes: [], scheme: { type: 'apiKey', in: 'header', name: 'X-Key' } };
    expect((await importOperation({}, rest)).target).toMatchObject({ security: [[key]] });
    expect((await importOperation({ security: [] }, rest)).target).toMatchObject({ security: [] });
    const security = [{ key: [], oauth: ['read'] }, { login: [] }, {}, { odd: [] }, { none: [] }];
    expect((await importOperation({ security }, rest)).target).toMatchObject({
      security: [
        [
          key,
          {
            name: 'oauth',
            scopes: ['read'],
            scheme: { type: 'oauth2', tokenUrl: 'https://a.example/token' },
          },
        ],
        [{ name: 'login', scopes: [], scheme: { type: 'http', scheme: 'basic' } }],
        [],
        [{ name: 'odd', scopes: [], scheme: { type: 'unknown' } }],
        [{ name: 'none', scopes: [], scheme: { type: 'unknown' } }],
      ],
    });
  });
});
