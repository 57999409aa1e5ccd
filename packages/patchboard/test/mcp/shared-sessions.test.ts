import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { InputRequired } from '../../src/core/call/input.ts';
import { nodeDigest } from '../../src/runtime/digest.ts';
import { DEFAULT_MCP_SETTINGS } from '../../src/transports/mcp-server/mcp-settings.ts';
import { mcpRoutes } from '../../src/transports/mcp-server/routes.ts';
import { memoryStore } from '../../src/store/memory/memory-store.ts';
import { aServer, type TestServer } from '../http/support/a-server.ts';
import { aServerTool } from '../support/an-engine.ts';
import { CITY, holding } from '../support/asking-tools.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { twoNodes } from '../support/two-nodes.ts';
import { waitFor } from '../support/wait-for.ts';
import { FORM, rpc, TASKS } from './support/a-modern-client.ts';
import { aLegacyClient, FORMS, send, toolCall } from './support/legacy-client.ts';

const PING = { jsonrpc: '2.0', id: 1, method: 'ping' };

let a: TestServer;
let b: TestServer;

/** Two HTTP servers over one store, with a clock that only the tests advance. */
const clock = new FakeClock(Date.now());
beforeAll(async () => {
  const nodes = twoNodes(memoryStore({ digest: nodeDigest }));
  const start = async ({ store, peers }: typeof nodes.a): Promise<TestServer> =>
    await aServer({
      store,
      peers,
      clock,
      // Each server has the state of its own routes.
      routes: mcpRoutes(DEFAULT_MCP_SETTINGS, { hasPages: false }),
      http: { eventLoopDelayMs: 60_000 },
      tools: [
        holding(),
        aServerTool({
          name: 'confirm',
          execute: (_args, { inputs }) =>
            inputs['approval'] === undefined
              ? new InputRequired({ approval: CITY })
              : { said: inputs['approval'].content },
        }),
        aServerTool({
          name: 'talk',
          execute: (_args, context) => {
            context.emit('note', { level: 'debug' });
            return 'said';
          },
        }),
      ],
    });
  a = await start(nodes.a);
  b = await start(nodes.b);
});
afterAll(() => Promise.all([a.close(), b.close()]));

function at({ url }: TestServer, session: string, headers: Record<string, string> = {}) {
  const own = { ...headers, 'mcp-session-id': session };
  return {
    post: (body: unknown) => send(`${url}/mcp`, { method: 'POST', headers: own, body }),
    end: () => send(`${url}/mcp`, { method: 'DELETE', headers: own }),
    listen: () => send(`${url}/mcp`, { method: 'GET', headers: { ...own, accept: 'text/event-stream' } }),
  };
}

describe('a session of an older MCP client that reaches another node', () => {
  it('works there, instead of being unknown', async () => {
    const { session } = await aLegacyClient(a.url);
    const reply = await at(b, session).post({
      jsonrpc: '2.0',
      id: 2,
      method: 'tools/call',
      params: { name: 'talk', arguments: {} },
    });
    expect(reply.status).toBe(200);
    expect((await reply.rest()).at(-1).result).toMatchObject({ isError: false });
    expect((await at(b, session).listen()).status).toBe(200);
  });

  it('belongs to its principal there too', async () => {
    const { session } = await aLegacyClient(a.url);
    expect((await at(b, session, { 'x-agent-id': 'another' }).post(PING)).status).toBe(404);
    expect((await at(b, session).post(PING)).status).toBe(200);
    expect((await at(b, 'made-up').post(PING)).status).toBe(404);
  });

  it('keeps the version that it was opened with', async () => {
    const { session } = await aLegacyClient(a.url, { version: '2025-06-18' });
    const own = (version: string) => at(b, session, { 'mcp-protocol-version': version }).post(PING);
    expect((await own('2025-06-18')).status).toBe(200);
    expect((await own('2025-11-25')).status).toBe(400);
  });

  it('takes its log level along', async () => {
    const { session } = await aLegacyClient(a.url);
    const call = {
      jsonrpc: '2.0',
      id: 3,
      method: 'tools/call',
      params: { name: 'talk', arguments: {} },
    };
    const logged = async (server: TestServer): Promise<number> =>
      (await (await at(server, session).post(call)).rest()).filter(
        ({ method }) => method === 'notifications/message',
      ).length;
    expect(await logged(b)).toBe(0);
    await at(a, session).post({
      jsonrpc: '2.0',
      id: 4,
      method: 'logging/setLevel',
      params: { level: 'debug' },
    });
    clock.pass(1000);
    await waitFor(async () => expect(await logged(b)).toBe(1));
  });

  it('responds there to a request that this node has sent', async () => {
    const client = await aLegacyClient(a.url, { capabilities: FORMS });
    const call = await client.post(toolCall('ask'));
    const request = await call.next();
    expect(request).toMatchObject({ method: 'elicitation/create' });
    const result = { action: 'accept', content: { city: 'Paris' } };
    const wrong = { action: 'accept', content: { city: 1 } };
    const respond = async (given: object): Promise<number> =>
      (await at(b, client.session).post({ jsonrpc: '2.0', id: request.id, result: given })).status;
    expect([await respond(wrong), await respond(result)]).toEqual([400, 202]);
    expect((await call.rest()).at(-1).result).toMatchObject({
      structuredContent: { said: { city: 'Paris' } },
    });
  });

  it('responds there to a request that a tool calls approval', async () => {
    const client = await aLegacyClient(a.url, { capabilities: FORMS });
    const call = await client.post(toolCall('confirm'));
    const { id } = await call.next();
    const result = { action: 'accept', content: { city: 'Paris' } };
    expect((await at(b, client.session).post({ jsonrpc: '2.0', id, result })).status).toBe(202);
    expect((await call.rest()).at(-1).result).toMatchObject({
      structuredContent: { said: { city: 'Paris' } },
    });
  });

  it('ends at both with DELETE', async () => {
    const { session } = await aLegacyClient(a.url);
    expect((await at(b, session).post(PING)).status).toBe(200);
    expect((await at(b, session).end()).status).toBe(204);
    clock.pass(1000);
    expect((await at(a, session).post(PING)).status).toBe(404);
    expect((await at(b, session).post(PING)).status).toBe(404);
  });
});

describe('the streams of sessions', () => {
  it('are counted where nothing is awaited before they are open', async () => {
    const { store, peers } = twoNodes(memoryStore({ digest: nodeDigest })).a;
    const { tokens } = store;
    if (tokens === undefined) throw new Error('the nodes share no tokens');
    let release = (): void => {};
    const released = new Promise<void>((resolve) => (release = resolve));
    let waiting = 0;
    const slow: typeof tokens = {
      ...tokens,
      find: async (kind, secret) => {
        waiting += 1;
        await released;
        return await tokens.find(kind, secret);
      },
    };
    const server = await aServer({
      store: new Proxy(store, {
        get: (target, name) => (name === 'tokens' ? slow : (Reflect.get(target, name) as unknown)),
      }),
      peers,
      clock,
      routes: mcpRoutes(DEFAULT_MCP_SETTINGS, { hasPages: false }),
      limits: { eventStreamsPerCredential: 1 },
    });
    onTestFinished(() => server.close());
    const sessions = [await aLegacyClient(server.url), await aLegacyClient(server.url)];
    clock.pass(1000);
    const streams = sessions.map(({ session }) => at(server, session).listen());
    await waitFor(() => expect(waiting).toBe(2));
    release();
    const statuses = (await Promise.all(streams)).map(({ status }) => status);
    expect(statuses.toSorted((one, other) => one - other)).toEqual([200, 429]);
  });
});

describe('a task that reaches another node', () => {
  it('is read and cancelled there', async () => {
    const capabilities = { ...TASKS, ...FORM };
    const { result: task } = await rpc(a.url, 'tools/call', { name: 'ask', arguments: {} }, { capabilities });
    const { taskId } = task as { readonly taskId: string };
    const at = async ({ url }: TestServer, method: string) =>
      (await rpc(url, method, { taskId }, { capabilities })).result;
    expect(await at(b, 'tasks/get')).toMatchObject({ taskId, status: 'input_required' });
    await at(b, 'tasks/cancel');
    for (const node of [a, b])
      expect(await at(node, 'tasks/get')).toMatchObject({ taskId, status: 'cancelled' });
  });
});
