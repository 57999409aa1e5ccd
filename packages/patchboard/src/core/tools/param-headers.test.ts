import type { JsonSchema } from '@patchboard/wire';
import { describe, expect, it } from 'vitest';
import { anEngine, aServerTool } from '../../../test/support/an-engine.ts';
import { nodeDigest } from '../../runtime/digest.ts';
import { memoryStore } from '../../store/memory/memory-store.ts';
import { plainRow } from '../ledger/ledger.ts';
import { readParamHeaders } from './param-headers.ts';

const T = 'default';
const REGION = { type: 'string', 'x-mcp-header': 'Region' };

function withProperty(property: unknown, more: Record<string, unknown> = {}): Exclude<JsonSchema, boolean> {
  return { type: 'object', properties: { region: property }, ...more };
}

/** Each schema with the place of the problem and its code. */
const INVALID: readonly (readonly [string, Exclude<JsonSchema, boolean>, string, string])[] = [
  ['no string', withProperty({ ...REGION, 'x-mcp-header': 7 }), '/properties/region', 'not_token'],
  ['empty', withProperty({ ...REGION, 'x-mcp-header': '' }), '/properties/region', 'not_token'],
  [
    'with a space',
    withProperty({ ...REGION, 'x-mcp-header': 'My Region' }),
    '/properties/region',
    'not_token',
  ],
  ['with a colon', withProperty({ ...REGION, 'x-mcp-header': 'Region:' }), '/properties/region', 'not_token'],
  ['not ASCII', withProperty({ ...REGION, 'x-mcp-header': 'Région' }), '/properties/region', 'not_token'],
  [
    'used twice, apart from case',
    { properties: { a: REGION, b: { properties: { c: { type: 'integer', 'x-mcp-header': 'REGION' } } } } },
    '/properties/b/properties/c',
    'twice',
  ],
  ...['number', 'object', 'array', 'null', ['string', 'null'], undefined].map(
    (type) =>
      [
        `of type ${String(type)}`,
        withProperty(type === undefined ? { 'x-mcp-header': 'Region' } : { type, 'x-mcp-header': 'Region' }),
        '/properties/region',
        'not_primitive',
      ] as const,
  ),
  ['at the top', { type: 'object', 'x-mcp-header': 'Region' }, '', 'misplaced'],
  ...['items', 'contains', 'not', 'if', 'then', 'else', 'additionalProperties', 'propertyNames'].map(
    (keyword) =>
      [
        `below ${keyword}`,
        withProperty({ [keyword]: REGION }),
        `/properties/region/${keyword}`,
        'misplaced',
      ] as const,
  ),
  ...['allOf', 'anyOf', 'oneOf', 'prefixItems'].map(
    (keyword) =>
      [
        `below ${keyword}`,
        withProperty({}, { [keyword]: [true, withProperty(REGION)] }),
        `/${keyword}/1/properties/region`,
        'misplaced',
      ] as const,
  ),
  ...['$defs', 'definitions', 'patternProperties', 'dependentSchemas'].map(
    (keyword) =>
      [
        `below ${keyword}`,
        withProperty({}, { [keyword]: { 'a/b': REGION } }),
        `/${keyword}/a~1b`,
        'misplaced',
      ] as const,
  ),
];

describe('x-mcp-header in an input schema', () => {
  it('is read with its place, at any depth of properties', () => {
    const nested = {
      type: 'object',
      properties: { 'a/b': { type: 'integer', 'x-mcp-header': 'X-Depth_1' } },
    };
    expect(readParamHeaders({ properties: { region: REGION, nested, other: { type: 'string' } } })).toEqual({
      ok: true,
      headers: [
        { name: 'Region', path: '/region', type: 'string' },
        { name: 'X-Depth_1', path: '/nested/a~1b', type: 'integer' },
      ],
    });
  });

  it('is not read where it is data or the name of a property', () => {
    const data = { 'x-mcp-header': 'no token' };
    const properties = {
      'x-mcp-header': { type: 'object' },
      a: { const: data, enum: [data], default: data },
    };
    expect(readParamHeaders({ properties, examples: [data] })).toEqual({ ok: true, headers: [] });
    expect(readParamHeaders(true)).toEqual({ ok: true, headers: [] });
  });

  it.each(INVALID)('%s rejects a client tool and a server tool', async (_how, schema, place, code) => {
    const { engine } = await anEngine({});
    const problem = {
      code: 'schema_at',
      params: { pointer: `${place}/x-mcp-header`, problem: [{ code: `param_header_${code}` }] },
    };
    const { rejected } = await engine.clientTools.register(T, 'phone', [{ name: 'camera', schema }]);
    expect(rejected).toMatchObject([
      {
        code: 'schema_invalid',
        reasons: [{ code: 'at_place', params: { place: 'schema', problem: [problem] } }],
      },
    ]);
    const own = engine.serverTools.addInitial(aServerTool({ name: 'own', inputSchema: schema }));
    expect(own).toMatchObject({
      code: 'schema_invalid',
      reasons: [{ code: 'input_schema_of', params: { problem: [problem] } }],
    });
  });

  it('that is valid registers, and in an output schema it means nothing', async () => {
    const { engine } = await anEngine({});
    const output = withProperty({ ...REGION, 'x-mcp-header': '' });
    const spec = { name: 'camera', schema: withProperty(REGION), output_schema: output };
    expect((await engine.clientTools.register(T, 'phone', [spec])).rejected).toEqual([]);
  });

  it('that an earlier version stored does not remove the tool', async () => {
    const store = memoryStore({ digest: nodeDigest });
    const spec = { name: 'camera', schema: withProperty({ ...REGION, 'x-mcp-header': '' }) };
    const stored = { tenant: T, clientId: 'phone', wireName: 'camera', spec, registeredAt: 1 };
    await store.saveTools([stored], plainRow('registry.changed', T, 1, {}));
    const { engine } = await anEngine({ store });
    expect(engine.toolIndex.find(T, 'camera')?.inputSchema).toEqual(spec.schema);
    expect((await engine.clientTools.register(T, 'phone', [spec])).rejected).toHaveLength(1);
  });
});
