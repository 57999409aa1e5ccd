import { createClient } from '@patchboard/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mcpClientOf } from '../../src/transports/shared/mcp-client.ts';
import { aPlatform, type TestPlatform } from '../guard/support/a-platform.ts';
import { accepted, aPrincipal, aRequest, aServerTool } from '../support/an-engine.ts';

const CLIENT = { name: 'claude-code', version: '2.1.325' };

let server: TestPlatform;
let id: string;
let shown: unknown;
beforeAll(async () => {
  const execute = (_args: unknown, { origin }: { readonly origin: unknown }): Promise<unknown> =>
    Promise.resolve((shown = origin));
  server = await aPlatform({ tools: [aServerTool({ name: 'toy.echo', execute })] });
  const mcpClient = mcpClientOf({ ...CLIENT, title: 'Claude Code' })!;
  const request = aRequest({ toolName: 'toy.echo', origin: { mcpClient } });
  ({ id } = accepted(await server.platform.engine.submit(request, aPrincipal())));
});
afterAll(async () => {
  await server?.close();
});

describe('a call of an MCP client', () => {
  it('names the client in its record and in lists, and to its tool', async () => {
    const record = await server.ask({
      method: 'GET',
      path: `/v1/tool_calls/${id}`,
      headers: { prefer: 'wait=10' },
    });
    expect(record.json).toMatchObject({ state: 'COMPLETED', mcp_client: CLIENT });
    const list = await server.ask({ method: 'GET', path: '/v1/tool_calls' });
    expect((list.json as { tool_calls: unknown[] }).tool_calls).toMatchObject([{ mcp_client: CLIENT }]);
    expect(shown).toEqual({ mcpClient: CLIENT });
  });

  it('is decoded by the TypeScript client', async () => {
    const client = createClient({ url: `http://127.0.0.1:${server.port}` });
    expect((await client.wait(id)).mcp_client).toEqual(CLIENT);
  });

  it('names the client in ledger and log', async () => {
    const rows = await server.store.readLedger({ callId: id }, 0, 1);
    expect(rows.map(({ row }) => JSON.parse(row.body) as unknown)).toMatchObject([
      { mcp_client: 'claude-code/2.1.325' },
    ]);
    expect(server.log()).toContain('"mcp_client":"claude-code/2.1.325"');
  });
});

it('is absent from other calls', async () => {
  const body = { run_id: 'r', args: {} };
  const call = await server.ask({ method: 'POST', path: '/v1/tools/toy.echo/invoke', body });
  const { tool_call_id: other } = call.json as { tool_call_id: string };
  const record = await server.ask({ method: 'GET', path: `/v1/tool_calls/${other}` });
  expect(record.json).not.toHaveProperty('mcp_client');
});
