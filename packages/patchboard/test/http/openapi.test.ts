import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROUTES } from '../../src/wiring/apis.ts';
import { aServer, type TestServer } from './support/a-server.ts';
import { validatorFor } from './support/openapi-check.ts';

let server: TestServer;

beforeAll(async () => {
  server = await aServer();
});
afterAll(async () => {
  await server.close();
});

type Json = Record<string, unknown>;

/** What OpenAPI 3.1 asks of a document, as far as ours uses it. */
const DOCUMENT_RULES = {
  type: 'object',
  required: ['openapi', 'info', 'paths'],
  properties: {
    openapi: { pattern: '^3\\.1\\.\\d+$' },
    info: { type: 'object', required: ['title', 'version'] },
    paths: {
      type: 'object',
      propertyNames: { pattern: '^/' },
      additionalProperties: {
        type: 'object',
        additionalProperties: { $ref: '#/$defs/operation' },
        propertyNames: { enum: ['get', 'put', 'post', 'delete'] },
      },
    },
    components: {
      type: 'object',
      properties: { schemas: { type: 'object', propertyNames: { pattern: '^[A-Za-z0-9._-]+$' } } },
    },
    tags: { type: 'array', items: { type: 'object', required: ['name'] } },
  },
  $defs: {
    content: {
      type: 'object',
      additionalProperties: {
        type: 'object',
        required: ['schema'],
        properties: { schema: { type: ['object', 'boolean'] } },
      },
    },
    operation: {
      type: 'object',
      required: ['operationId', 'summary', 'responses'],
      properties: {
        operationId: { type: 'string', minLength: 1 },
        summary: { type: 'string', minLength: 1 },
        tags: { type: 'array', items: { type: 'string' } },
        parameters: {
          type: 'array',
          items: {
            type: 'object',
            required: ['name', 'in', 'schema'],
            properties: {
              in: { enum: ['path', 'query', 'header'] },
              name: { type: 'string' },
              schema: { type: 'object' },
            },
            anyOf: [
              { properties: { in: { enum: ['query', 'header'] } } },
              { required: ['required'], properties: { required: { const: true } } },
            ],
          },
        },
        requestBody: {
          type: 'object',
          required: ['content'],
          properties: { content: { $ref: '#/$defs/content' } },
        },
        responses: {
          type: 'object',
          minProperties: 1,
          propertyNames: { pattern: '^[1-5]\\d\\d$' },
          additionalProperties: {
            type: 'object',
            required: ['description'],
            properties: {
              description: { type: 'string', minLength: 1 },
              content: { $ref: '#/$defs/content' },
            },
          },
        },
      },
    },
  },
};

function operations(): { path: string; method: string; operation: Json }[] {
  return Object.entries(server.document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      path,
      method,
      operation: operation as unknown as Json,
    })),
  );
}

describe('GET /openapi.json', () => {
  it('is a valid document of version 3.1', async () => {
    const { json } = await server.get('/openapi.json');
    const validate = new Ajv2020({ allErrors: true, strict: false }).compile(DOCUMENT_RULES);
    expect([validate(json), validate.errors]).toEqual([true, null]);
    const ids = operations().map(({ operation }) => operation['operationId']);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('has every route that is declared, and declares every parameter in its path', () => {
    const declared = ROUTES.map(
      ({ method, url }) => `${method} ${url.replaceAll(/:(\w+)/g, '{$1}').replace('*', '{*}')}`,
    );
    const shown = operations().map(({ path, method }) => `${method.toUpperCase()} ${path}`);
    expect(shown.sort()).toEqual(declared.sort());
    for (const { path, operation } of operations()) {
      const named = new Set([...path.matchAll(/\{(\w+|\*)\}/g)].map(([, name]) => name));
      const parameters = (operation['parameters'] ?? []) as Json[];
      const inPath = parameters.filter((given) => given['in'] === 'path').map((given) => given['name']);
      expect(new Set(inPath)).toEqual(named);
    }
  });

  it('has no reference that leads nowhere and no schema that does not compile', () => {
    const text = JSON.stringify(server.document);
    for (const [, name] of text.matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)) {
      expect(Object.keys(server.document.components.schemas)).toContain(name);
    }
    expect(text).not.toMatch(/"\$ref":"(?!#\/components\/schemas\/)/);
    for (const { path, method, operation } of operations()) {
      for (const [status, response] of Object.entries(operation['responses'] as Record<string, Json>)) {
        for (const type of Object.keys((response['content'] ?? {}) as Json)) {
          validatorFor(server.document, [
            'paths',
            path,
            method,
            'responses',
            status,
            'content',
            type,
            'schema',
          ]);
        }
      }
    }
  });
});
