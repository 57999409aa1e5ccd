import { describe, expect, it } from 'vitest';
import { aBridge, INITIALIZE, type BridgeProcess } from './support/a-bridge.ts';
import {
  accept,
  openStream,
  recordingServer,
  sendError,
  sendResult,
  type Recorded,
  type RecordingServer,
} from './support/recording-server.ts';

/** A server of the eras with sessions. `streams` are the open streams of `GET`, the newest last. */
class LegacyServer {
  readonly streams: ((message: unknown) => void)[] = [];
  recording!: RecordingServer;
  /** Handles `tools/call`. */
  onCall: (request: Recorded) => void = (request) => sendResult(request, { content: [] });
  readonly #sessions = new Set<string>();
  #count = 0;

  static async start(): Promise<LegacyServer> {
    const server = new LegacyServer();
    server.recording = await recordingServer((request) => server.#respond(request));
    return server;
  }

  /** Forgets all sessions, as a restart does. */
  forget(): void {
    this.#sessions.clear();
    for (const { method, response } of this.recording.requests) if (method === 'GET') response.end();
  }

  requests(method: string): Recorded[] {
    return this.recording.requests.filter(({ body }) => body.method === method);
  }

  #respond(request: Recorded): void {
    const { method, headers, body } = request;
    if (body.method === 'initialize') {
      const id = `session-${(this.#count += 1)}`;
      this.#sessions.add(id);
      return sendResult(
        request,
        { protocolVersion: '2025-06-18', capabilities: {} },
        { 'mcp-session-id': id },
      );
    }
    if (!this.#sessions.has(String(headers['mcp-session-id'])))
      return sendError(request, 404, -32001, 'Session not found');
    if (method === 'DELETE') return void request.response.writeHead(204).end();
    if (method === 'GET') return void this.streams.push(openStream(request));
    if (body.id === undefined || body.method === undefined) return accept(request);
    if (body.method === 'tools/call') return this.onCall(request);
    sendResult(request, {});
  }
}

async function connected(server: LegacyServer): Promise<BridgeProcess> {
  const bridge = aBridge({ env: { PATCHBOARD_URL: server.recording.url } });
  await bridge.request(0, 'initialize', INITIALIZE);
  bridge.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
  await expect.poll(() => server.streams.length).toBe(1);
  return bridge;
}

describe('a session of an earlier era', () => {
  it('sends its id and version with every message, and ends with stdin', async () => {
    const server = await LegacyServer.start();
    const bridge = await connected(server);
    await bridge.request(1, 'tools/list');
    server.streams[0]?.({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
    await expect.poll(() => bridge.received().at(-1)?.method).toBe('notifications/tools/list_changed');
    expect(await bridge.end()).toBe(0);
    const [initialize, ...later] = server.recording.requests;
    expect(initialize?.headers).not.toHaveProperty('mcp-protocol-version');
    for (const { headers } of later)
      expect(headers).toMatchObject({ 'mcp-session-id': 'session-1', 'mcp-protocol-version': '2025-06-18' });
    expect(later.map(({ method, body }) => `${method} ${body.method ?? ''}`).sort()).toEqual([
      'DELETE ',
      'GET ',
      'POST notifications/initialized',
      'POST tools/list',
    ]);
    const stream = server.recording.requests.find(({ method }) => method === 'GET');
    await expect.poll(() => stream?.hungUp).toBe(true);
  });

  it('holds messages that are sent with initialize back until the session is open', async () => {
    const server = await LegacyServer.start();
    const bridge = aBridge({ env: { PATCHBOARD_URL: server.recording.url } });
    bridge.send({ jsonrpc: '2.0', id: 0, method: 'initialize', params: INITIALIZE });
    bridge.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
    bridge.send({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
    await bridge.response(1);
    expect(await bridge.end()).toBe(0);
    expect(bridge.received().map(({ id }) => id)).toEqual([0, 1]);
    const order = server.recording.requests
      .map(({ body }) => body.method)
      .filter((method) => method !== undefined);
    expect(order).toEqual(['initialize', 'notifications/initialized', 'tools/list']);
    expect(server.requests('tools/list')[0]?.headers['mcp-session-id']).toBe('session-1');
  });

  it('forwards requests of the server, posts the responses of the client, and posts cancellations', async () => {
    const server = await LegacyServer.start();
    server.onCall = (request) => {
      const send = openStream(request);
      send({ jsonrpc: '2.0', id: 'ask', method: 'elicitation/create', params: { message: 'name?' } });
      server.recording
        .got(({ body }) => body.id === 'ask')
        .then(({ body }) => {
          send({ jsonrpc: '2.0', id: request.body.id, result: { content: [], was: body.result } });
          request.response.end();
        })
        .catch((error: Error) => request.response.destroy(error));
    };
    const bridge = await connected(server);
    bridge.send({ jsonrpc: '2.0', id: 5, method: 'tools/call', params: { name: 'ask' } });
    await expect.poll(() => bridge.received().at(-1)?.method).toBe('elicitation/create');
    bridge.send({ jsonrpc: '2.0', id: 'ask', result: { action: 'accept', content: { name: 'Ann' } } });
    expect((await bridge.response(5)).result?.['was']).toEqual({
      action: 'accept',
      content: { name: 'Ann' },
    });
    server.onCall = (request) => void openStream(request);
    bridge.send({ jsonrpc: '2.0', id: 6, method: 'tools/call', params: { name: 'slow' } });
    const call = await server.recording.got(({ body }) => body.id === 6);
    bridge.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 6 } });
    const cancel = await server.recording.got(({ body }) => body.method === 'notifications/cancelled');
    expect(cancel.headers['mcp-session-id']).toBe('session-1');
    expect(cancel.body.params).toEqual({ requestId: 6 });
    expect(call.hungUp).toBe(false);
    // The server may end the stream without a response, which is no error then.
    call.response.end();
    await bridge.end();
    expect(bridge.received().map(({ id }) => id)).not.toContain(6);
  });
});

describe('a session that the server lost by a restart', () => {
  it('is opened again with what the client had sent, and refused requests are repeated', async () => {
    const server = await LegacyServer.start();
    const bridge = await connected(server);
    await bridge.request(1, 'logging/setLevel', { level: 'error' });
    await bridge.request(2, 'resources/subscribe', { uri: 'a:1' });
    await bridge.request(3, 'resources/subscribe', { uri: 'a:2' });
    await bridge.request(4, 'resources/unsubscribe', { uri: 'a:1' });
    server.forget();
    for (const id of [10, 11, 12]) bridge.send({ jsonrpc: '2.0', id, method: 'tools/call', params: { id } });
    for (const id of [10, 11, 12]) expect((await bridge.response(id)).result).toEqual({ content: [] });
    // Once for all of them, and silently: the client sees the responses only.
    expect(server.requests('initialize').map(({ body }) => body.params)).toEqual([INITIALIZE, INITIALIZE]);
    expect(server.requests('notifications/initialized')).toHaveLength(2);
    expect(server.requests('logging/setLevel').map(({ headers }) => headers['mcp-session-id'])).toEqual([
      'session-1',
      'session-2',
    ]);
    const subscribed = server.requests('resources/subscribe').map(({ body }) => body.params?.['uri']);
    expect(subscribed).toEqual(['a:1', 'a:2', 'a:2']);
    expect(bridge.received().map(({ id }) => id)).toEqual(
      expect.arrayContaining([0, 1, 2, 3, 4, 10, 11, 12]),
    );
    expect(bridge.received()).toHaveLength(8);
    await expect.poll(() => server.streams.length).toBe(2);
    server.streams[1]?.({ jsonrpc: '2.0', method: 'notifications/prompts/list_changed' });
    await expect.poll(() => bridge.received().at(-1)?.method).toBe('notifications/prompts/list_changed');
    expect(bridge.stderr()).toContain('the session was opened again');
    await bridge.end();
  });

  it('is opened again by the stream too, without a request of the client', async () => {
    const server = await LegacyServer.start();
    const bridge = await connected(server);
    server.forget();
    await expect.poll(() => server.streams.length).toBe(2);
    expect(server.requests('initialize')).toHaveLength(2);
    await bridge.end();
  });

  it('does not repeat a call that may have run', async () => {
    const server = await LegacyServer.start();
    const bridge = await connected(server);
    server.onCall = (request) => void request.response.destroy();
    const { error } = await bridge.request(1, 'tools/call', { name: 'pay' });
    expect(error?.data).toEqual({ code: 'connection_lost', outcome: 'unknown' });
    expect(error?.message).toContain('look for it with patchboard calls ls before you repeat it');
    server.onCall = (request) => {
      openStream(request)({ jsonrpc: '2.0', method: 'notifications/progress', params: {} });
      request.response.end();
    };
    const ended = await bridge.request(2, 'tools/call', { name: 'pay' });
    expect(ended.error?.data).toEqual({ code: 'connection_lost', outcome: 'unknown' });
    expect(server.requests('tools/call')).toHaveLength(2);
    await bridge.end();
  });
});
