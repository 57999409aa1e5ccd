import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aServerTool } from '../support/an-engine.ts';
import { waitFor } from '../support/wait-for.ts';
import { aServer, type TestServer } from '../http/support/a-server.ts';
import { aLegacyClient, ACCEPT, opening, send, toolCall } from './support/legacy-client.ts';

const OTHER = { 'x-agent-id': 'another' };
const PING = { jsonrpc: '2.0', id: 1, method: 'ping' };
const VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05', '2024-10-07'];

let server: TestServer;
beforeAll(async () => {
  server = await aServer({ tools: [aServerTool({ name: 'echo' })] });
});
afterAll(() => server.close());

describe('initialize', () => {
  it.each(VERSIONS)('opens a session of %s', async (version) => {
    const reply = await send(`${server.url}/mcp`, { method: 'POST', body: opening(version) });
    expect(reply.headers.get('mcp-session-id')).toMatch(/^[\x21-\x7e]+$/);
    const { result } = await reply.next();
    expect(result).toMatchObject({ protocolVersion: version, serverInfo: { name: 'patchboard' } });
  });

  it('offers the newest version to a client of an unknown one', async () => {
    const reply = await send(`${server.url}/mcp`, { method: 'POST', body: opening('1999-01-01') });
    expect((await reply.next()).result.protocolVersion).toBe(VERSIONS[0]);
  });
});

describe('a session', () => {
  it('serves plain results, and an unknown method as an error with status 200', async () => {
    const client = await aLegacyClient(server.url);
    expect(await client.notify('notifications/initialized')).toBe(202);
    expect((await client.request('ping')).result).toEqual({});
    const { result } = await client.request('tools/call', { name: 'echo', arguments: { a: 1 } });
    expect(result).toMatchObject({ isError: false, structuredContent: { echo: { a: 1 } } });
    expect(result.resultType).toBeUndefined();
    const unknown = await client.post({ jsonrpc: '2.0', id: 3, method: 'no/such' });
    expect(unknown.status).toBe(200);
    expect((await unknown.next()).error.code).toBe(-32_601);
  });

  it('does not exist for another principal', async () => {
    const { session } = await aLegacyClient(server.url);
    const headers = { ...OTHER, 'mcp-session-id': session };
    for (const method of ['POST', 'GET', 'DELETE']) {
      const sent = method === 'POST' ? { method, headers, body: PING } : { method, headers };
      const reply = await send(`${server.url}/mcp`, sent);
      expect([method, reply.status, (await reply.next()).error.code]).toEqual([method, 404, -32_001]);
    }
    const own = await send(`${server.url}/mcp`, {
      method: 'POST',
      headers: { 'mcp-session-id': session },
      body: PING,
    });
    expect(own.status).toBe(200);
  });

  it('ends with DELETE, with its stream, and then is unknown', async () => {
    const client = await aLegacyClient(server.url);
    const stream = await client.listen();
    expect(stream.status).toBe(200);
    expect(await client.end()).toBe(204);
    expect(await stream.next()).toBeNull();
    expect(await client.end()).toBe(404);
    const reply = await client.post(PING);
    expect([reply.status, (await reply.next()).error.code]).toEqual([404, -32_001]);
  });

  it('is lost by a restart: 404, and the client opens another', async () => {
    const before = await aServer();
    const { session } = await aLegacyClient(before.url);
    await before.close();
    const after = await aServer();
    const reply = await send(`${after.url}/mcp`, {
      method: 'POST',
      headers: { 'mcp-session-id': session },
      body: PING,
    });
    expect([reply.status, (await reply.next()).error.code]).toEqual([404, -32_001]);
    const client = await aLegacyClient(after.url);
    expect((await client.request('ping')).result).toEqual({});
    await after.close();
  });

  it('ends with the credential that opened it, and so does its stream', async () => {
    const operator = { authorization: `Bearer op_${'t'.repeat(43)}` };
    const own = await aServer();
    const made = await own.post('/v1/keys', { kind: 'agent', name: 'short' }, { headers: operator });
    const headers = { authorization: `Bearer ${made.json.key}` };
    const client = await aLegacyClient(own.url, { headers });
    const stream = await client.listen();
    expect((await client.request('ping')).result).toEqual({});
    await own.delete(`/v1/keys/${made.json.key_id}`, { headers: operator });
    expect(await stream.next()).toBeNull();
    expect((await client.post(PING)).status).toBe(401);
    // The same principal with another key: the session is gone too.
    const again = await own.post('/v1/keys', { kind: 'agent', name: 'short' }, { headers: operator });
    const other = { authorization: `Bearer ${again.json.key}` };
    const reply = await client.post(PING, other);
    expect(reply.status).toBe(404);
    await own.close();
  });
});

describe('a request without a session', () => {
  it('is served, without streams and input requests', async () => {
    const reply = await send(`${server.url}/mcp`, { method: 'POST', body: toolCall('echo', { b: 2 }) });
    expect((await reply.next()).result.structuredContent).toEqual({ echo: { b: 2 } });
  });
});

describe('MCP-Protocol-Version', () => {
  it('may be absent or the version of the session', async () => {
    const client = await aLegacyClient(server.url, { version: '2025-06-18' });
    expect((await client.post(PING)).status).toBe(200);
    expect((await client.post(PING, { 'mcp-protocol-version': '2025-06-18' })).status).toBe(200);
  });

  it.each(['2025-11-25', '1999-01-01', 'nonsense'])(
    'is refused if it is %s in a session of 2025-06-18',
    async (version) => {
      const client = await aLegacyClient(server.url, { version: '2025-06-18' });
      const reply = await client.post(PING, { 'mcp-protocol-version': version });
      expect(reply.status).toBe(400);
      expect((await reply.next()).error.message).toContain(version);
    },
  );
});

describe('GET /mcp', () => {
  it('takes no request without a session, of the modern era or for another media type', async () => {
    const { session } = await aLegacyClient(server.url);
    const cases: Record<string, string>[] = [
      {},
      { 'mcp-session-id': session, 'mcp-protocol-version': '2026-07-28' },
      { 'mcp-session-id': session, accept: 'application/json' },
    ];
    for (const headers of cases) {
      const reply = await send(`${server.url}/mcp`, {
        method: 'GET',
        headers: { accept: ACCEPT, ...headers },
      });
      expect([reply.status, reply.headers.get('allow')]).toEqual([405, 'POST']);
      expect((await reply.next()).error.data.code).toBe('method_not_allowed');
    }
  });

  it('notifies of changes of the lists', async () => {
    const own = await aServer();
    const client = await aLegacyClient(own.url);
    const stream = await client.listen();
    const tools = [{ name: 'sample.more', schema: { type: 'object' } }];
    await own.post('/internal/tools/register', { client_id: 'laptop', tools });
    expect(await stream.next()).toMatchObject({ method: 'notifications/tools/list_changed' });
    await own.close();
    expect(await stream.next()).toBeNull();
  });

  it('replaces the stream that the session has', async () => {
    const client = await aLegacyClient(server.url);
    const first = await client.listen();
    const second = await client.listen();
    expect(await first.next()).toBeNull();
    expect(second.status).toBe(200);
  });

  it('counts in the bounds of event streams', async () => {
    const own = await aServer({ limits: { eventStreamsPerCredential: 2 } });
    const clients = await Promise.all([1, 2, 3].map(() => aLegacyClient(own.url)));
    const [first] = [await clients[0]!.listen(), await clients[1]!.listen()];
    const third = await clients[2]!.listen();
    expect([third.status, (await third.next()).error.data.code]).toEqual([429, 'rate_limited']);
    // One that replaces the stream of its session needs no room.
    expect((await clients[1]!.listen()).status).toBe(200);
    first!.hangUp();
    await waitFor(async () => expect((await clients[2]!.listen()).status).toBe(200));
    await own.close();
  });
});
