import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aServerTool } from '../support/an-engine.ts';
import { anMcpServer, type McpFixture } from './support/a-modern-client.ts';

let server: McpFixture;
beforeAll(async () => {
  const region = { type: 'string', 'x-mcp-header': 'Region' };
  const routed = aServerTool({
    name: 'routed',
    inputSchema: { type: 'object', properties: { region } },
    execute: (args) => Promise.resolve(args),
  });
  const hops = aServerTool({
    name: 'hops',
    execute: (_args, { origin }) => Promise.resolve({ hops: origin?.hops ?? null }),
  });
  server = await anMcpServer({ tools: [routed, hops] });
});
afterAll(async () => {
  await server?.close();
});

describe('a header that repeats an argument', () => {
  const HEADER = 'mcp-param-region';
  it.each([
    ['equal', { region: 'eu' }, { [HEADER]: 'eu' }, null],
    ['encoded', { region: 'grün' }, { [HEADER]: '=?base64?Z3LDvG4=?=' }, null],
    ['missing', { region: 'eu' }, {}, -32_020],
    ['different', { region: 'eu' }, { [HEADER]: 'us' }, -32_020],
    ['of an absent argument', {}, { [HEADER]: 'eu' }, -32_020],
  ])('that is %s', async (_what, args, headers, code) => {
    const reply = await server.call('routed', { arguments: args }, { headers });
    if (code === null) {
      expect(reply.result.structuredContent).toEqual(args);
      return;
    }
    expect(reply.status).toBe(400);
    expect(reply.error).toMatchObject({
      code,
      message: expect.stringContaining('Mcp-Param-Region') as string,
    });
  });
});

it('records the client as it describes itself', async () => {
  const { result } = await server.call('routed');
  const id = result._meta['patchboard/tool_call_id'] as string;
  const record = await server.get(`/v1/tool_calls/${id}`);
  expect(record.json.mcp_client).toEqual({ name: 'tester', version: '1' });
});

describe('the number of gateways that have passed a call on', () => {
  it('is kept with the call', async () => {
    const passed = await server.call('hops', {}, { meta: { 'patchboard/hops': 2 } });
    expect(passed.result.structuredContent).toEqual({ hops: 2 });
    const first = await server.call('hops');
    expect(first.result.structuredContent).toEqual({ hops: null });
  });

  it.each(['1', -1, 1.5, null])('is refused as %j', async (hops) => {
    const { error } = await server.call('hops', {}, { meta: { 'patchboard/hops': hops } });
    expect(error).toMatchObject({
      code: -32_602,
      message: '_meta["patchboard/hops"] must be a whole number from 0',
    });
  });
});

describe('an unknown tool', () => {
  it('is an error in the words of the specification, with a similar name of the list', async () => {
    const { error } = await server.call('rooted');
    expect(error).toMatchObject({ code: -32_602, message: 'Unknown tool: rooted; did you mean routed?' });
  });

  it('is an error without a name that resembles none', async () => {
    const { error } = await server.call('weather');
    expect(error).toMatchObject({ code: -32_602, message: 'Unknown tool: weather' });
  });
});
