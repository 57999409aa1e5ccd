import type { JsonSchema } from '@patchboard/wire';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aPlatform, type MintedKey, type TestPlatform } from '../guard/support/a-platform.ts';
import { aServerTool } from '../support/an-engine.ts';
import { waitFor } from '../support/wait-for.ts';
import { eraClient, ERAS, TASKS, type Reply } from './support/era-client.ts';

const OBJECT = { type: 'object', properties: { n: { type: 'integer' } } } satisfies JsonSchema;
const NUMBER = { type: 'number' } satisfies JsonSchema;
const READONLY = { readonly: true };
const SERVER_TOOLS = 300;
const CLIENT_TOOLS = 280;

let server: TestPlatform;
let canonical: TestPlatform;
let ada: MintedKey;

beforeAll(async () => {
  const many = Array.from({ length: SERVER_TOOLS }, (_, n) => aServerTool({ name: `many.t${n}` }));
  const shown = [
    aServerTool({ name: 'shown.object', annotations: READONLY, outputSchema: OBJECT, timeoutMs: 50_000 }),
    aServerTool({ name: 'shown.number', annotations: READONLY, outputSchema: NUMBER }),
    aServerTool({ name: 'shown.slow', annotations: READONLY, outputSchema: OBJECT, timeoutMs: 50_001 }),
    aServerTool({ name: 'shown.writes', outputSchema: OBJECT }),
    aServerTool({
      name: 'shown.header',
      inputSchema: { type: 'object', properties: { city: { type: 'string', 'x-mcp-header': 'City' } } },
    }),
  ];
  server = await aPlatform({ tools: [...many, ...shown] });
  canonical = await aPlatform({ tools: shown, config: { mcp: { names: 'canonical' } } });
  const { clientTools } = server.platform.engine;
  const specs = Array.from({ length: CLIENT_TOOLS }, (_, n) => ({ name: `lent.t${n}`, schema: {} }));
  await clientTools.register('default', 'phone', specs);
  // So many tools at once keep the server too busy for requests at first.
  ada = await waitFor(() => server.mint({ kind: 'agent', name: 'ada' }));
});
afterAll(async () => {
  await server.close();
  await canonical.close();
});

interface Row {
  readonly name: string;
  readonly title: string;
  readonly inputSchema: unknown;
  readonly outputSchema?: unknown;
}

function rowsOf(replies: readonly Reply[]): Row[] {
  return replies.flatMap(({ result }) => result.tools as Row[]);
}

describe.each(ERAS)('%s', (era) => {
  it('lists every tool once, in pages, with the same text for the same state', async () => {
    const client = await eraClient(server.platform.url, era, ada.headers);
    const pages = await client.pages('tools/list');
    const names = rowsOf(pages).map(({ name }) => name);
    expect(pages.map(({ result }) => result.tools.length)).toEqual([250, 250, names.length - 500]);
    expect(new Set(names).size).toBe(names.length);
    const of = (prefix: string): number => names.filter((name) => name.startsWith(prefix)).length;
    expect([of('many__'), of('lent__'), of('shown__'), of('patchboard__')]).toEqual([
      SERVER_TOOLS,
      CLIENT_TOOLS,
      5,
      1,
    ]);
    const again = await client.pages('tools/list');
    expect(again.map(({ text }) => text)).toEqual(pages.map(({ text }) => text));
  });

  it('lists the tools that ?tools= leaves, by either name', async () => {
    const left = async (tools: string): Promise<string[]> => {
      const client = await eraClient(server.platform.url, era, ada.headers, `?tools=${tools}`);
      return rowsOf(await client.pages('tools/list')).map(({ name }) => name);
    };
    const both = ['many__t1', 'shown__object', 'patchboard__result'];
    expect(await left('many.t1,shown.obj*')).toEqual(both);
    expect(await left('many__t1,shown__obj*')).toEqual(both);
  });

  it('shows output schemas that a result always fits', async () => {
    const client = await eraClient(server.platform.url, era, ada.headers, '?tools=shown.*');
    const rows = rowsOf(await client.pages('tools/list'));
    const shown = rows.filter(({ outputSchema }) => outputSchema !== undefined).map(({ title }) => title);
    expect(shown).toEqual(era === 'modern' ? ['shown.number', 'shown.object'] : ['shown.object']);
    expect(rows.find(({ title }) => title === 'shown.header')?.inputSchema).toEqual({
      type: 'object',
      properties: { city: { type: 'string', 'x-mcp-header': 'City' } },
    });
  });
});

it('shows every output schema to a client with tasks, which needs no tool to fetch results', async () => {
  const client = await eraClient(server.platform.url, 'modern', ada.headers, '?tools=shown.*');
  const rows = rowsOf([await client.request('tools/list', {}, TASKS)]);
  expect(rows.filter(({ outputSchema }) => outputSchema !== undefined)).toHaveLength(4);
  expect(rows.map(({ name }) => name)).not.toContain('patchboard__result');
});

it('lists canonical names if the settings say so', async () => {
  const { headers } = await canonical.mint({ kind: 'agent', name: 'ada' });
  const client = await eraClient(canonical.platform.url, 'modern', headers, '?tools=shown.*');
  const names = rowsOf([await client.request('tools/list')]).map(({ name }) => name);
  expect(names).toContain('shown.object');
  expect(names).not.toContain('shown__object');
});
