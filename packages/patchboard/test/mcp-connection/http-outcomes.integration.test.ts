import { describe, expect, it } from 'vitest';
import {
  ConnectionLost,
  NotStarted,
  ResponseTooLarge,
  type McpRequest,
} from '../../src/sources/mcp/mcp-connection.ts';
import type { McpConnectionParts } from '../../src/sources/mcp/session-transport.ts';
import { closedAfterEach } from '../support/after-each.ts';
import { waitFor } from '../support/wait-for.ts';
import { AConnection, httpSettings } from './support/a-connection.ts';
import { ScriptedServer, sendResult, stream, type Respond } from './support/scripted-server.ts';

const closing = closedAfterEach();

const TOO_LARGE = 'x'.repeat(5 * 1024 * 1024);
const TOOLS: Record<string, Respond> = {
  ok: (response, { id }) => sendResult(response, id, { content: [], kept: { any: ['member'] } }),
  limited: (response) => response.writeHead(429, { 'retry-after': '7' }).end(),
  broken: (response) => response.writeHead(500).end('a page'),
  unavailable: (response) => response.writeHead(503).end(),
  silent: (response) => response.writeHead(202).end(),
  page: (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<p>'),
  refused: (response) => response.writeHead(413).end(),
  moved: (response) => response.writeHead(308, { location: 'https://other.example/mcp' }).end(),
  seeOther: (response) => response.writeHead(303, { location: '/mcp/result' }).end(),
  found: (response) => response.writeHead(302, { location: 'https://other.example/done' }).end(),
  reset: (response) => response.destroy(),
  half: (response) => {
    stream(response)({ method: 'notifications/message', params: { level: 'info', data: 'begun' } });
    response.end();
  },
  large: (response, { id }) => sendResult(response, id, { content: [TOO_LARGE] }),
  largeEvent: (response, { id }) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write('id: 1\ndata:\n\n');
    response.write(`data: ${JSON.stringify({ jsonrpc: '2.0', id, result: { content: [TOO_LARGE] } })}\n\n`);
  },
};

async function connected(
  server: ScriptedServer,
  parts: Partial<McpConnectionParts> = {},
): Promise<AConnection> {
  await server.listen();
  const up = new AConnection(httpSettings(server.url), parts).start();
  closing(() => up.connection.close());
  return await up.online();
}

/** The error of a call, whose type and members the test compares. */
async function errorOf(up: AConnection, name: string, options: Partial<McpRequest> = {}): Promise<unknown> {
  return await up.call(name, {}, options).then(
    (response) => response,
    (error: unknown) => error,
  );
}

describe('a request over HTTP', () => {
  it.each([
    ['limited', NotStarted, { mayRetry: true, status: 429, retryAfterMs: 7_000 }],
    ['refused', NotStarted, { mayRetry: false, status: 413, retryAfterMs: null }],
    ['moved', NotStarted, { mayRetry: false, status: 308, retryAfterMs: null }],
    ['seeOther', ConnectionLost, {}],
    ['found', ConnectionLost, {}],
    ['broken', ConnectionLost, {}],
    ['unavailable', ConnectionLost, {}],
    ['silent', ConnectionLost, {}],
    ['page', ConnectionLost, {}],
    ['reset', ConnectionLost, {}],
    ['half', ConnectionLost, {}],
    ['large', ResponseTooLarge, {}],
    ['largeEvent', ResponseTooLarge, {}],
  ] as const)(
    'to a tool that is %s fails as it should, is sent once, and leaves the connection usable',
    async (name, type, members) => {
      const server = new ScriptedServer(TOOLS);
      const up = await connected(server);
      const error = await errorOf(up, name);
      expect(error).toBeInstanceOf(type);
      expect(error).toMatchObject(members);
      expect(await up.call('ok')).toEqual({
        kind: 'result',
        result: { content: [], kept: { any: ['member'] } },
      });
      expect(server.calls(name)).toBe(1);
    },
  );

  it('to a method that the server does not know returns its error, also with status 404', async () => {
    const up = await connected(new ScriptedServer());
    const { signal } = new AbortController();
    const response = await up.connection.request({
      method: 'tasks/get',
      params: {},
      capabilities: {},
      signal,
    });
    expect(response).toEqual({ kind: 'error', code: -32_601, message: 'Method not found', data: null });
  });

  it('carries the envelope and the given headers', async () => {
    const server = new ScriptedServer(TOOLS);
    const up = await connected(server);
    const params = { name: 'ok', arguments: {}, _meta: { 'patchboard/hops': 1 } };
    await up.call('ok', {}, { params, capabilities: { sampling: {} }, headers: { 'Mcp-Param-City': 'Ulm' } });
    const call = server.received.findLast(({ method }) => method === 'tools/call');
    expect(call?.params['_meta']).toEqual({
      'patchboard/hops': 1,
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'patchboard', version: expect.any(String) },
      'io.modelcontextprotocol/clientCapabilities': { sampling: {} },
    });
    expect(call?.headers).toMatchObject({
      'mcp-param-city': 'Ulm',
      'mcp-method': 'tools/call',
      'mcp-name': 'ok',
    });
  });

  it('that is aborted closes its stream', async () => {
    let isClosed = false;
    const hang: Respond = (response) => {
      stream(response);
      response.once('close', () => (isClosed = true));
    };
    const server = new ScriptedServer({ hang });
    const up = await connected(server);
    const controller = new AbortController();
    const pending = errorOf(up, 'hang', { signal: controller.signal });
    await waitFor(() => expect(server.calls('hang')).toBe(1));
    controller.abort(new Error('deadline'));
    expect(await pending).toEqual(new Error('deadline'));
    await waitFor(() => expect(isClosed).toBe(true));
  });

  it('receives the progress and log messages of its own stream', async () => {
    const both: Respond = (response, { id, params }) => {
      const event = stream(response);
      const { progressToken } = params['_meta'] as { progressToken: string };
      event({ method: 'notifications/message', params: { level: 'info', data: progressToken } });
      event({ method: 'notifications/progress', params: { progressToken, progress: 1 } });
      event({ id, result: {} });
      response.end();
    };
    const up = await connected(new ScriptedServer({ both }));
    const seen: string[][] = [[], []];
    await Promise.all(
      seen.map((mine, index) =>
        up.call(
          'both',
          {},
          {
            params: { name: 'both', arguments: {}, _meta: { progressToken: `tc_${index}` } },
            onNotification: (method, params) =>
              mine.push(`${method} ${String(params['data'] ?? params['progressToken'])}`),
          },
        ),
      ),
    );
    expect(seen).toEqual(
      [0, 1].map((index) => [`notifications/message tc_${index}`, `notifications/progress tc_${index}`]),
    );
  });
});

describe('credentials', () => {
  it('are renewed once after a 401 or 403, and the request is sent again', async () => {
    const server = new ScriptedServer(TOOLS);
    let valid = 'Bearer first';
    server.first = (response, { headers }) => {
      if (headers.authorization === valid) return false;
      response.writeHead(403).end();
      return true;
    };
    let token = 'first';
    const accessTokens = { token: async () => token, renew: async () => void (token = 'second') };
    const up = await connected(server, { accessTokens });
    valid = 'Bearer second';
    expect(await up.call('ok')).toMatchObject({ kind: 'result' });
    valid = 'Bearer third';
    expect(await errorOf(up, 'ok')).toMatchObject({ name: 'NotStarted', mayRetry: false, status: 403 });
  });
});
