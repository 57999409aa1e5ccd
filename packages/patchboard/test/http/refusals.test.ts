import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RefusalFormat } from '../../src/transports/shared/routes/problem.ts';
import type { Route } from '../../src/transports/shared/routes/routes.ts';
import { ANY, object, TEXT } from '../../src/transports/shared/routes/schemas.ts';
import { ROUTES } from '../../src/wiring/apis.ts';
import { aServer, OPERATOR_TOKEN, type TestServer } from './support/a-server.ts';

const AS_OPERATOR = { authorization: `Bearer ${OPERATOR_TOKEN}` };

/** A refusal as JSON-RPC writes it. */
const JSON_RPC: RefusalFormat = {
  contentType: 'application/json',
  schema: object({ jsonrpc: TEXT, id: { type: 'null' }, error: ANY }),
  write: ({ code, message }) =>
    JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32_000, message, data: { code } } }),
};

const rpcRoute: Route = {
  method: 'POST',
  url: '/test/rpc',
  name: 'testRpc',
  api: 'agent',
  summary: 'A route with a refusal format of its own.',
  scope: 'keys:write',
  body: object({ call: TEXT }),
  responses: { 200: { description: 'never', schema: ANY } },
  refusals: [],
  refuse: JSON_RPC,
  handle: () => Promise.reject(new Error('a fault of ours')),
};

let server: TestServer;
beforeAll(async () => {
  server = await aServer({ routes: [...ROUTES, rpcRoute] });
});
afterAll(async () => {
  await server.close();
});

type Injected = { readonly payload?: string; readonly headers?: Readonly<Record<string, string>> };

describe('a route with a refusal format of its own', () => {
  const json = { 'content-type': 'application/json' };
  it.each<[number, string, string, Injected, 'POST' | 'GET']>([
    [421, 'misdirected', 'by the host guard', { headers: { host: 'evil.example' } }, 'POST'],
    [
      403,
      'permission_denied',
      'by the origin guard',
      { headers: { origin: 'https://evil.example' } },
      'POST',
    ],
    [401, 'auth_required', 'for its credential', { headers: { authorization: 'Bearer pb_x' } }, 'POST'],
    [403, 'permission_denied', 'for its scope', {}, 'POST'],
    [415, 'content_type', 'for its type', { headers: AS_OPERATOR, payload: 'text' }, 'POST'],
    [
      400,
      'body_invalid',
      'by the JSON guard',
      { headers: { ...AS_OPERATOR, ...json }, payload: '{' },
      'POST',
    ],
    [400, 'body_invalid', 'by its schema', { headers: { ...AS_OPERATOR, ...json }, payload: '{}' }, 'POST'],
    [405, 'method_not_allowed', 'for its method', { headers: AS_OPERATOR }, 'GET'],
    [
      500,
      'internal',
      'for a fault in the handler',
      { headers: { ...AS_OPERATOR, ...json }, payload: '{"call":"x"}' },
      'POST',
    ],
  ])('refuses with %s %s %s in that format', async (status, code, _where, { payload, headers }, method) => {
    const response = await server.app.inject({
      method,
      url: '/test/rpc',
      headers: { host: `127.0.0.1:${server.port}`, ...headers },
      ...(payload === undefined ? {} : { payload }),
    });
    expect(response.statusCode).toBe(status);
    expect(response.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(response.json()).toMatchObject({ jsonrpc: '2.0', id: null, error: { data: { code } } });
  });

  it('is described with it', () => {
    const { responses } = server.document.paths['/test/rpc']!['post']!;
    expect(Object.keys(responses['401']!.content ?? {})).toEqual(['application/json']);
    expect(responses['401']!.content).toMatchObject({
      'application/json': { schema: { required: ['jsonrpc', 'id', 'error'] } },
    });
  });
});

describe('WWW-Authenticate', () => {
  const scoped = ROUTES.filter(({ scope }) => scope !== null);

  it.each(scoped.map((route) => [route.method, route.url, route] as const))(
    'is on the 401 of %s %s',
    async (method, url, { protectedResource, scope }) => {
      const response = await server.app.inject({
        method,
        url: url.replaceAll(/:\w+/g, 'x').replace('*', 'x'),
        headers: { host: `127.0.0.1:${server.port}`, authorization: 'Bearer pb_not_a_key' },
      });
      expect(response.statusCode).toBe(401);
      const more = protectedResource === undefined ? '' : `, scope="${scope}"`;
      expect(response.headers['www-authenticate']).toBe(
        `Bearer realm="patchboard", error="invalid_token"${more}`,
      );
    },
  );

  it('names no error where no token was sent', async () => {
    const headers = { host: `127.0.0.1:${server.port}`, 'x-forwarded-for': '192.0.2.1' };
    const response = await server.app.inject({ method: 'GET', url: '/v1/tools', headers });
    expect(response.statusCode).toBe(401);
    expect(response.headers['www-authenticate']).toBe('Bearer realm="patchboard"');
    const exchange = await server.app.inject({
      method: 'POST',
      url: '/v1/session',
      headers: { host: `127.0.0.1:${server.port}` },
      payload: { token: 'no such token' },
    });
    expect(exchange.statusCode).toBe(401);
    expect(exchange.headers['www-authenticate']).toBe('Bearer realm="patchboard"');
  });
});

describe('the tenant API', () => {
  it('refuses before a call with the members of a failed call, beside those of a problem', async () => {
    const sent = { 'x-tenant-id': 'default', 'x-site-id': 'nowhere', 'x-trace-id': 't' };
    const token = { ...sent, authorization: 'Bearer pb_not_a_key' };
    for (const path of ['/api/tools/call', '/tools/call', '/api/tools/list', '/tools/list']) {
      const body = path.endsWith('call') ? { tool_name: 'x' } : {};
      const refused = await server.post(path, body, { headers: token });
      expect(refused.status).toBe(401);
      expect(refused.json).toMatchObject({
        success: false,
        error: refused.json.detail as unknown,
        error_type: 'PermissionError',
        code: 'auth_required',
      });
      expect((await server.post(path, '[', { headers: sent })).json).toMatchObject({
        success: false,
        error_type: 'ValidationError',
        status: 400,
      });
    }
  });
});
