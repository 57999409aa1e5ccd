import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createClient, type PatchboardClient } from '@patchboard/client';
import express from 'express';
import { fastify } from 'fastify';
import { describe, expect, it } from 'vitest';
import { createPatchboard, tool, type BoardOptions, type Patchboard } from '../../src/index.ts';
import { closedAfterEach } from '../support/after-each.ts';

const closeLater = closedAfterEach();

async function aBoard(options: BoardOptions = {}): Promise<{ board: Patchboard; secret: string }> {
  const board = await createPatchboard({
    tools: [tool('echo', (args: { text: string }) => args.text)],
    ...options,
  });
  closeLater(() => board.close());
  const { secret } = await board.createKey({ kind: 'agent', name: 'web' });
  return { board, secret };
}

async function listening(listener: RequestListener): Promise<string> {
  const server: Server = createServer(listener);
  closeLater(
    () =>
      new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      }),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Every server a board is mounted in, at `/tools`, and the address of the board there. */
const HOSTS: readonly [string, (board: Patchboard) => Promise<string>][] = [
  [
    'express',
    async (board) => {
      const app = express();
      app.use('/tools', board.handler);
      app.use(express.json());
      app.get('/other', (_request, response) => void response.send('theirs'));
      return `${await listening(app)}/tools`;
    },
  ],
  [
    'fastify',
    async (board) => {
      const app = fastify();
      app.route({
        method: ['GET', 'POST', 'PUT', 'DELETE', 'OPTIONS'],
        url: '/tools/*',
        onRequest: (request, reply) => {
          reply.hijack();
          board.handler(request.raw, reply.raw);
        },
        handler: () => undefined,
      });
      closeLater(() => app.close());
      return `${await app.listen({ port: 0, host: '127.0.0.1' })}/tools`;
    },
  ],
  ["node's own server", async (board) => `${await listening(board.handler)}/tools`],
];

describe.each(HOSTS)('mounted in %s', (_name, host) => {
  const mounted = async (): Promise<{
    client: PatchboardClient;
    url: string;
    secret: string;
    board: Patchboard;
  }> => {
    const { board, secret } = await aBoard({ http: { prefix: '/tools' } });
    const url = await host(board);
    return { board, url, secret, client: createClient({ url, key: secret }) };
  };

  it('serves tools, calls and their events under the prefix', async () => {
    const { client, board } = await mounted();
    expect((await client.tools()).map(({ name }) => name)).toEqual(['echo']);
    const call = await client.call('echo', { text: '你好' });
    expect(call).toMatchObject({ status: 'SUCCEEDED', result: '你好' });
    expect(await board.get(call.tool_call_id)).toMatchObject({ result: '你好' });
    const states: unknown[] = [];
    for await (const { data } of client.events({ callId: call.tool_call_id }))
      states.push((data as { state: string }).state);
    expect(states).toEqual(['PENDING', 'EXECUTING', 'COMPLETED']);
  });

  it('keeps the host and origin guard: no credential, a foreign Host and a foreign page get nothing', async () => {
    const { url, secret, board } = await mounted();
    const ask = async (headers: Record<string, string>): Promise<unknown> => {
      const response = await fetch(`${url}/v1/tools`, { headers });
      return ((await response.json()) as { code?: string }).code ?? response.status;
    };
    const key = { authorization: `Bearer ${secret}` };
    expect(await ask({})).toBe('auth_required');
    expect(await ask({ 'x-agent-id': 'web' })).toBe('auth_required');
    expect(await ask(key)).toBe(200);
    expect(await ask({ ...key, origin: 'https://evil.example' })).toBe('permission_denied');
    expect(await ask({ ...key, origin: 'null' })).toBe('permission_denied');
    expect(await ask({ ...key, 'sec-fetch-site': 'cross-site' })).toBe('permission_denied');
    expect(await rawStatus(url, secret, 'evil.example')).toBe(421);
    expect(await rawStatus(url, secret, 'localhost:1')).toBe(421);
    expect(await board.call('echo', { text: 'still here' })).toMatchObject({ state: 'COMPLETED' });
  });

  it('responds to bad bodies itself, and to routes that do not exist', async () => {
    const { url, secret } = await mounted();
    const post = async (body: string, type = 'application/json'): Promise<number> => {
      const headers = { authorization: `Bearer ${secret}`, 'content-type': type };
      return (await fetch(`${url}/v1/tools/echo/invoke`, { method: 'POST', headers, body })).status;
    };
    expect(await post('{"run_id":"r","args":{},"args":{}}')).toBe(400);
    expect(await post('text', 'text/plain')).toBe(415);
    expect(await post(JSON.stringify({ run_id: 'r', args: { text: 'x'.repeat(2_000_000) } }))).toBe(413);
    expect((await fetch(`${url}/nowhere`)).status).toBe(404);
  });
});

describe('mounted', () => {
  it('says so when a body parser was there before it', async () => {
    const { board, secret } = await aBoard();
    const app = express();
    app.use(express.json());
    app.use('/tools', board.handler);
    const url = await listening(app);
    const response = await fetch(`${url}/tools/v1/tools/echo/invoke`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({ run_id: 'r', args: { text: 'x' } }),
    });
    expect(response.status).toBe(500);
    expect(await response.json()).toMatchObject({
      detail: 'the request body was read before it reached the board',
      retryable: false,
      recommendations: ['mount the board before express.json() and other body parsers'],
    });
    expect((await createClient({ url: `${url}/tools`, key: secret }).tools()).length).toBe(1);
  });

  it('takes hosts and pages that are named', async () => {
    const http = { allowedHosts: ['board.example'], allowedOrigins: ['https://app.example'] };
    const { board, secret } = await aBoard({ http });
    const url = await listening(board.handler);
    expect(await rawStatus(url, secret, 'board.example')).toBe(200);
    const headers = { authorization: `Bearer ${secret}`, origin: 'https://app.example' };
    const response = await fetch(`${url}/v1/tools`, { headers });
    expect([response.status, response.headers.get('access-control-allow-origin')]).toEqual([
      200,
      'https://app.example',
    ]);
  });

  it('ends streams when the board is closed', async () => {
    const { board, secret } = await aBoard();
    const url = await listening(board.handler);
    const headers = { authorization: `Bearer ${secret}` };
    const events = await fetch(`${url}/v1/events`, { headers });
    await board.call('echo', { text: 'x' }, { agentId: 'web', runId: 'run_web' });
    const text = events.text();
    await board.close();
    expect(await text).toContain('call.state');
  });

  it('refuses a token issuer without an audience or an issuer', async () => {
    const keys = { kind: 'secret', secret: 'x'.repeat(32) } as const;
    const whole = { issuer: 'https://issuer.example', audience: ['a', 'b'], keys };
    const board = async (jwt: object): Promise<unknown> =>
      await aBoard({ http: { jwt: jwt as typeof whole } });
    await board(whole);
    await board({ ...whole, audience: 'a' });
    await expect(board({ issuer: 'https://issuer.example', keys })).rejects.toThrow('http.jwt.audience');
    await expect(board({ ...whole, audience: ['a', 5] })).rejects.toThrow('http.jwt.audience[1]');
    await expect(board({ audience: 'a', keys })).rejects.toThrow('http.jwt.issuer');
  });

  it('refuses a prefix that is none', async () => {
    const { board } = await aBoard({ http: { prefix: 'tools/' } });
    await expect(board.fetch(new Request('http://localhost/'))).rejects.toThrow(
      'http.prefix must begin with /',
    );
  });
});

describe('as route handlers', () => {
  /** What a file such as `app/api/board/[...path]/route.ts` exports. */
  async function aRoute(http: BoardOptions['http'] = {}): Promise<{
    board: Patchboard;
    GET: (request: Request) => Promise<Response>;
    POST: (request: Request) => Promise<Response>;
    secret: string;
  }> {
    const options = { prefix: '/api/board', allowedHosts: ['app.example'], ...http };
    const { board, secret } = await aBoard({ http: options });
    return { board, GET: board.fetch, POST: board.fetch, secret };
  }
  const at = (path: string, secret: string | null, init: RequestInit = {}): Request => {
    const request = new Request(`https://app.example/api/board${path}`, init);
    if (secret !== null) request.headers.set('authorization', `Bearer ${secret}`);
    return request;
  };
  const asJson = (body: unknown): RequestInit => ({
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

  it('responds to a request like the server does', async () => {
    const { GET, POST, secret } = await aRoute();
    const tools = await GET(at('/v1/tools', secret));
    expect([tools.status, tools.headers.get('content-type')]).toEqual([
      200,
      'application/json; charset=utf-8',
    ]);
    expect(await tools.json()).toMatchObject({ tools: [{ name: 'echo' }] });
    const etag = tools.headers.get('etag')!;
    const unchanged = await GET(at('/v1/tools', secret, { headers: { 'if-none-match': etag } }));
    expect([unchanged.status, unchanged.body]).toEqual([304, null]);
    const invoke = asJson({ run_id: 'r', args: { text: 'hi' } });
    const receipt = await POST(at('/v1/tools/echo/invoke', secret, invoke));
    expect(receipt.status).toBe(202);
    const { tool_call_id: id } = (await receipt.json()) as { tool_call_id: string };
    const record = await GET(at(`/v1/tool_calls/${id}`, secret, { headers: { prefer: 'wait=10' } }));
    expect(await record.json()).toMatchObject({ status: 'SUCCEEDED', result: 'hi' });
  });

  it('keeps the host and origin guard', async () => {
    const { GET, POST, secret } = await aRoute();
    expect((await GET(at('/v1/tools', null))).status).toBe(401);
    expect((await GET(new Request('https://evil.example/api/board/v1/tools'))).status).toBe(421);
    // By no socket there is no port of ours, so that even loopback names must be allowed by name.
    expect((await GET(new Request('http://localhost:3000/api/board/v1/tools'))).status).toBe(421);
    expect((await GET(at('/v1/tools', secret, { headers: { origin: 'https://evil.example' } }))).status).toBe(
      403,
    );
    const large = asJson({ run_id: 'r', args: { text: 'x'.repeat(2_000_000) } });
    expect((await POST(at('/v1/tools/echo/invoke', secret, large))).status).toBe(413);
  });

  it('streams events, ends them when the reader leaves, and when the board closes', async () => {
    const { board, GET, secret } = await aRoute();
    const stats = async (): Promise<string> => await (await GET(at('/metrics', admin))).text();
    const admin = (await board.createKey({ kind: 'operator', name: 'ops' })).secret;
    const leaving = await GET(at('/v1/events', secret));
    const reader = leaving.body!.getReader();
    expect(new TextDecoder().decode((await reader.read()).value)).toContain(': open');
    expect(await stats()).toMatch(/patchboard_streams_open 1\n/);
    await reader.cancel();
    await expect.poll(stats).toMatch(/patchboard_streams_open 0\n/);
    const staying = await GET(at('/v1/events', secret));
    await board.call('echo', { text: 'x' }, { agentId: 'web', runId: 'run_web' });
    const text = staying.text();
    await board.close();
    expect(await text).toContain('call.state');
  });

  it('drops a reader that does not read', async () => {
    const { board, GET, secret } = await aRoute();
    const admin = (await board.createKey({ kind: 'operator', name: 'ops' })).secret;
    const open = async (): Promise<string> => await (await GET(at('/metrics', admin))).text();
    board.registry.register(
      tool('loud', (_args, { progress }) => {
        for (let count = 0; count < 40; count += 1) progress('x'.repeat(100_000));
      }),
    );
    const stream = await GET(at('/v1/events', secret));
    expect(await open()).toContain('patchboard_streams_open 1');
    await board.call('loud', {}, { agentId: 'web', runId: 'run_web' });
    await expect.poll(open).toContain('patchboard_streams_open 0');
    await expect(stream.text()).rejects.toThrow();
  });
});

async function rawStatus(url: string, secret: string, host: string): Promise<number> {
  const { request } = await import('node:http');
  const headers = { host, authorization: `Bearer ${secret}` };
  return await new Promise((resolve, reject) => {
    request(`${url}/v1/tools`, { headers }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    })
      .on('error', reject)
      .end();
  });
}
