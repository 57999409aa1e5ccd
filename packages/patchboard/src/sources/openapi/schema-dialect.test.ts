import { describe, expect, it } from 'vitest';
import { importOperation } from '../../../test/support/a-description.ts';
import { jsonSchemas } from '../../schemas/json-schemas.ts';

interface Schemas {
  readonly body: unknown;
  readonly definitions: Readonly<Record<string, unknown>>;
  readonly output: unknown;
}

/** Converts one schema as the body and as the result of an operation. */
async function converted(schema: object, components: object = {}, version = '3.0.3'): Promise<Schemas> {
  const content = { 'application/json': { schema } };
  const rest = { openapi: version, components: { schemas: components } };
  const tool = await importOperation({ requestBody: { content }, responses: { 200: { content } } }, rest);
  const { properties, $defs } = tool.inputSchema as {
    properties: { body: unknown };
    $defs?: Record<string, unknown>;
  };
  return { body: properties.body, definitions: $defs ?? {}, output: tool.outputSchema };
}

describe('a schema of OpenAPI', () => {
  it.each([
    [{ type: 'string', nullable: true }, { type: ['string', 'null'] }],
    [
      { type: 'string', nullable: true, enum: ['a'] },
      { type: ['string', 'null'], enum: ['a', null] },
    ],
    [
      { nullable: true, allOf: [{ type: 'string' }], description: 'd' },
      { description: 'd', anyOf: [{ allOf: [{ type: 'string' }] }, { type: 'null' }] },
    ],
    [
      { minimum: 1, exclusiveMinimum: true, maximum: 2, exclusiveMaximum: false },
      { exclusiveMinimum: 1, maximum: 2 },
    ],
    [
      { type: 'integer', format: 'int64', example: 7 },
      { type: 'integer', format: 'int64', examples: [7] },
    ],
    [
      { type: 'string', format: 'byte' },
      { type: 'string', format: 'byte' },
    ],
    [{ type: 'file' }, { type: 'string', contentEncoding: 'base64' }],
    [{ type: 'object', required: true, 'x-a': 1, xml: {}, externalDocs: {} }, { type: 'object' }],
    [
      { type: 'array', items: { nullable: true, type: 'number' } },
      { type: 'array', items: { type: ['number', 'null'] } },
    ],
    [
      { additionalProperties: { type: 'number', example: 1 } },
      { additionalProperties: { type: 'number', examples: [1] } },
    ],
    [{ pattern: '^a+$' }, { pattern: '^a+$' }],
    [{ type: 'string', pattern: '^(?=a)b$' }, { type: 'string' }],
    [{ type: 'string', pattern: '[' }, { type: 'string' }],
  ])('%j becomes %j', async (schema, expected) => {
    expect((await converted(schema)).body).toEqual(expected);
  });

  it('of 3.1 stays as it is, without references into the description', async () => {
    const schema = {
      $id: 'https://a.example/a',
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      $comment: 'c',
      type: ['string', 'null'],
      const: 'a',
      examples: ['a'],
      $defs: { b: { type: 'nonsense' } },
    };
    expect((await converted(schema, {}, '3.1.0')).body).toEqual({
      type: ['string', 'null'],
      const: 'a',
      examples: ['a'],
    });
  });

  it('has no examples in an output', async () => {
    const { output } = await converted(
      { type: 'object', properties: { a: { example: 1 }, b: { examples: [1] } } },
      {},
      '3.1.0',
    );
    expect(output).toEqual({ type: 'object', properties: { a: {}, b: {} } });
  });

  it('has no read-only properties in an input and no write-only ones in an output', async () => {
    const Id = { type: 'integer', readOnly: true };
    const schema = {
      type: 'object',
      required: ['id', 'name', 'password'],
      properties: {
        id: { $ref: '#/components/schemas/Id' },
        name: { type: 'string' },
        password: { type: 'string', writeOnly: true },
      },
    };
    const { body, output } = await converted(schema, { Id });
    expect(body).toEqual({
      type: 'object',
      required: ['name', 'password'],
      properties: { name: { type: 'string' }, password: { type: 'string' } },
    });
    expect(output).toMatchObject({ required: ['id', 'name'], properties: { id: {}, name: {} } });
    expect(output).not.toHaveProperty('properties.password');
  });

  it('requires no property that a part of `allOf` makes read-only', async () => {
    const Base = { properties: { id: { readOnly: true }, name: {} } };
    const { body } = await converted(
      { allOf: [{ $ref: '#/components/schemas/Base' }, { required: ['id', 'name'] }] },
      { Base },
    );
    expect(body).toEqual({ allOf: [{ $ref: '#/$defs/Base' }, { required: ['name'] }] });
  });

  it('refers to definitions, also to itself, and has only those that it reaches', async () => {
    const components = {
      Node: {
        type: 'object',
        properties: {
          next: { $ref: '#/components/schemas/Node' },
          leaf: { $ref: '#/components/schemas/Leaf%20one/properties/x' },
        },
      },
      'Leaf one': { properties: { x: { type: 'string' } } },
      Other: { type: 'number' },
    };
    const { body, definitions, output } = await converted({ $ref: '#/components/schemas/Node' }, components);
    const Node = {
      type: 'object',
      properties: {
        next: { $ref: '#/$defs/Node' },
        leaf: { $ref: '#/$defs/components_schemas_Leaf_one_properties_x' },
      },
    };
    expect(body).toEqual({ $ref: '#/$defs/Node' });
    expect(definitions).toEqual({ Node, components_schemas_Leaf_one_properties_x: { type: 'string' } });
    expect(output).toMatchObject(Node);
  });

  it('keeps definitions apart whose names become the same', async () => {
    const components = { 'A<b>': { const: 1 }, 'A{b}': { const: 2 } };
    const one = { $ref: '#/components/schemas/A<b>' };
    const { body, definitions } = await converted(
      { properties: { one, two: { $ref: '#/components/schemas/A{b}' } } },
      components,
    );
    expect(body).toEqual({ properties: { one: { $ref: '#/$defs/A_b_' }, two: { $ref: '#/$defs/A_b__2' } } });
    expect(definitions).toEqual({ A_b_: { const: 1 }, A_b__2: { const: 2 } });
  });

  it('with a discriminator accepts a value that several of its schemas accept', async () => {
    const components = {
      Cat: { type: 'object', properties: { kind: { type: 'string' } } },
      Dog: { type: 'object', properties: { kind: { type: 'string' } } },
    };
    const schema = {
      oneOf: [{ $ref: '#/components/schemas/Cat' }, { $ref: '#/components/schemas/Dog' }],
      discriminator: { propertyName: 'kind', mapping: { cat: '#/components/schemas/Cat' } },
    };
    const { output } = await converted(schema, components);
    expect(output).toMatchObject({
      anyOf: [{ $ref: '#/$defs/Cat' }, { $ref: '#/$defs/Dog' }],
      discriminator: { propertyName: 'kind' },
    });
    const compiled = jsonSchemas().compile(output as object as Record<string, unknown>, 'outside');
    expect(compiled.ok && compiled.validate({ kind: 'cat' })).toBeNull();
  });

  it.each([
    [
      'a reference that leads back to itself',
      { $ref: '#/components/schemas/A' },
      { A: { allOf: [{ $ref: '#/components/schemas/A' }] } },
      'leads back to itself',
    ],
    [
      'definitions of more than 64 KiB',
      { $ref: '#/components/schemas/A' },
      { A: { items: { $ref: '#/components/schemas/B' } }, B: { description: 'x'.repeat(70_000) } },
      'larger than 65536 bytes',
    ],
    [
      'a reference outside',
      { items: { $ref: 'pets.yaml#/Pet' } },
      {},
      'the reference pets.yaml#/Pet, which points outside',
    ],
    ['a schema that is none', { properties: { a: 7 } }, {}, 'a schema must be an object or a boolean'],
  ])('with %s rejects its operation', async (_name, schema, components, problem) => {
    await expect(converted(schema, components)).rejects.toThrow(problem);
  });
});
