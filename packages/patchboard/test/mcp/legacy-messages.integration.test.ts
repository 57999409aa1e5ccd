import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aPrincipal, aServerTool } from '../support/an-engine.ts';
import { waitFor } from '../support/wait-for.ts';
import { aServer, type TestServer } from '../http/support/a-server.ts';
import { gatedTool } from '../http/support/toy-tools.ts';
import { aLegacyClient, send, toolCall, type LegacyClient } from './support/legacy-client.ts';

const gated = gatedTool();
let server: TestServer;
beforeAll(async () => {
  server = await aServer({ tools: [aServerTool({ name: 'echo' }), gated.tool] });
});
afterAll(() => server.close());

const ping = (id: number) => ({ jsonrpc: '2.0', id, method: 'ping' });
const cancelled = (requestId: unknown) => ({
  jsonrpc: '2.0',
  method: 'notifications/cancelled',
  params: { requestId, reason: 'the user gave up' },
});

/** The state of the newest call. */
async function newestState(): Promise<string> {
  const { items } = await server.engine.calls.list(aPrincipal(), {}, null, 1);
  return items[0]!.state.name;
}

describe('notifications/cancelled', () => {
  async function running(client: LegacyClient, headers: Record<string, string> = {}) {
    const begun = gated.begun();
    const reply = client.post(toolCall('gated', {}, {}, 'slow'), headers);
    await begun;
    return reply;
  }

  it('cancels the call of that request, whose response ends without a result', async () => {
    const client = await aLegacyClient(server.url);
    const reply = running(client);
    await waitFor(async () => expect(await newestState()).toBe('EXECUTING'));
    expect((await client.post(cancelled('slow'))).status).toBe(202);
    expect(await (await reply).rest()).toEqual([]);
    await waitFor(async () => expect(await newestState()).toBe('CANCELLED'));
  });

  it('sends an error in place of the stream to a client that accepts none', async () => {
    const client = await aLegacyClient(server.url);
    const reply = running(client, { accept: 'application/json' });
    await waitFor(async () => expect(await newestState()).toBe('EXECUTING'));
    await client.post(cancelled('slow'));
    expect((await (await reply).next()).error.message).toBe('Request cancelled');
  });

  it('of another session, or without one, does nothing', async () => {
    const client = await aLegacyClient(server.url);
    const other = await aLegacyClient(server.url);
    const reply = running(client);
    await waitFor(async () => expect(await newestState()).toBe('EXECUTING'));
    expect((await other.post(cancelled('slow'))).status).toBe(202);
    await send(`${server.url}/mcp`, { method: 'POST', body: cancelled('slow') });
    expect((await client.post(cancelled('another'))).status).toBe(202);
    expect(await newestState()).toBe('EXECUTING');
    gated.open('done');
    expect((await (await reply).next()).result.content[0].text).toBe('done');
  });

  it('of a request that has ended is ignored', async () => {
    const client = await aLegacyClient(server.url);
    await client.request('ping', {}, 5);
    expect((await client.post(cancelled(5))).status).toBe(202);
    expect((await client.post(cancelled('open'))).status).toBe(202);
    expect((await client.request('ping')).result).toEqual({});
  });
});

describe('a client that disconnects', () => {
  it('says nothing about its call, which goes on', async () => {
    const client = await aLegacyClient(server.url, { query: '?hold=60' });
    const begun = gated.begun();
    const first = await client.post({ ...ping(1), method: 'logging/setLevel', params: { level: 'info' } });
    await first.rest();
    const stop = new AbortController();
    const reply = fetch(`${server.url}/mcp`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-session-id': client.session,
      },
      body: JSON.stringify(toolCall('gated', {}, {}, 'left')),
      signal: stop.signal,
    });
    await begun;
    await waitFor(async () => expect(await newestState()).toBe('EXECUTING'));
    stop.abort();
    await expect(reply).rejects.toThrow();
    expect(await newestState()).toBe('EXECUTING');
    gated.open('late');
    await waitFor(async () => expect(await newestState()).toBe('COMPLETED'));
  });
});

describe('a batch', () => {
  const aClient = () => aLegacyClient(server.url, { version: '2025-03-26' });

  it('of 2025-03-26 is served message by message', async () => {
    const client = await aClient();
    const batch = [
      ping(1),
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      toolCall('echo', { a: 1 }, {}, 2),
      { ...ping(3), method: 'no/such' },
    ];
    const reply = await client.post(batch);
    expect(reply.status).toBe(200);
    const responses = await reply.next();
    const byId = Object.fromEntries(responses.map((one: { id: number }) => [one.id, one]));
    expect(Object.keys(byId)).toEqual(['1', '2', '3']);
    expect(byId[1].result).toEqual({});
    expect(byId[2].result.structuredContent).toEqual({ echo: { a: 1 } });
    expect(byId[3].error.code).toBe(-32_601);
  });

  it('leaves out the request that is cancelled meanwhile', async () => {
    const client = await aClient();
    const begun = gated.begun();
    const reply = client.post([ping(1), toolCall('gated', {}, {}, 'slow')]);
    await begun;
    await waitFor(async () => expect(await newestState()).toBe('EXECUTING'));
    await client.post(cancelled('slow'));
    expect(await (await reply).next()).toEqual([{ jsonrpc: '2.0', id: 1, result: {} }]);
  });

  it('of notifications or responses only is accepted without a body', async () => {
    const client = await aClient();
    const notification = { jsonrpc: '2.0', method: 'notifications/initialized' };
    const response = { jsonrpc: '2.0', id: 'unknown', result: {} };
    for (const batch of [[notification, notification], [response]]) {
      const reply = await client.post(batch);
      expect([reply.status, await reply.next()]).toEqual([202, null]);
    }
  });

  it('of 20 requests is served, of 21 refused', async () => {
    const client = await aClient();
    const many = (count: number) => Array.from({ length: count }, (_, index) => ping(index));
    expect(await (await client.post(many(20))).next()).toHaveLength(20);
    const refused = await client.post(many(21));
    expect([refused.status, (await refused.next()).error.code]).toEqual([400, -32_600]);
  });

  it.each([
    ['empty', []],
    ['nested', [[ping(1)]]],
    ['with a number', [ping(1), 7]],
    ['of requests and responses', [ping(1), { jsonrpc: '2.0', id: 'x', result: {} }]],
    ['with one id twice', [ping(1), ping(1)]],
    ['with initialize', [{ ...ping(1), method: 'initialize' }]],
  ])('that is %s is refused', async (_what, batch) => {
    const client = await aClient();
    const reply = await client.post(batch);
    expect([reply.status, (await reply.next()).error.code]).toEqual([400, -32_600]);
  });

  it.each(['2025-11-25', '2025-06-18', '2024-11-05'])('of %s is refused', async (version) => {
    const client = await aLegacyClient(server.url, { version });
    const reply = await client.post([ping(1)]);
    expect([reply.status, (await reply.next()).error.code]).toEqual([400, -32_600]);
  });

  it('without a session is refused', async () => {
    const reply = await send(`${server.url}/mcp`, { method: 'POST', body: [ping(1)] });
    expect([reply.status, (await reply.next()).error.code]).toEqual([400, -32_600]);
  });
});
