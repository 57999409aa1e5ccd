import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Route } from '../../src/transports/shared/routes/routes.ts';
import { ANY } from '../../src/transports/shared/routes/schemas.ts';
import { ROUTES } from '../../src/wiring/apis.ts';
import { aServer, OPERATOR_TOKEN, type TestServer } from './support/a-server.ts';

const route: Route = {
  method: 'GET',
  url: '/test/resource',
  name: 'testResource',
  api: 'agent',
  summary: 'A route of a protected resource.',
  scope: 'tools:call',
  protectedResource: '/test/resource',
  responses: { 200: { description: 'accepted', schema: ANY } },
  refusals: [],
  handle: (_context, _request, reply) => void reply.send('{}'),
};
/** Needs a scope that local mode does not have. */
const strict: Route = { ...route, url: '/test/strict', name: 'testStrict', scope: 'keys:write' };
/** The same, and no protected resource. */
const { protectedResource: _left, ...plain } = strict;
const routes = [...ROUTES, route, strict, { ...plain, url: '/test/plain', name: 'testPlain' }];

let withIssuer: TestServer;
let without: TestServer;
beforeAll(async () => {
  withIssuer = await aServer({
    routes,
    allowedHosts: ['board.example'],
    resources: { jwtIssuer: 'https://issuer.example', pathPrefix: '/board' },
  });
  without = await aServer({ routes });
});
afterAll(async () => {
  await withIssuer.close();
  await without.close();
});

async function challenge(
  server: TestServer,
  url: string,
  headers: Record<string, string>,
): Promise<unknown[]> {
  const host = `127.0.0.1:${server.port}`;
  const response = await server.app.inject({ method: 'GET', url, headers: { host, ...headers } });
  return [response.statusCode, response.headers['www-authenticate']];
}

const FORWARDED = { 'x-forwarded-for': '192.0.2.1' };
const BAD_TOKEN = { authorization: 'Bearer pb_not_a_key' };

describe('WWW-Authenticate of a protected resource', () => {
  it('names the scope, and an error only if a token was sent', async () => {
    expect(await challenge(without, route.url, FORWARDED)).toEqual([
      401,
      'Bearer realm="patchboard", scope="tools:call"',
    ]);
    expect(await challenge(without, route.url, BAD_TOKEN)).toEqual([
      401,
      'Bearer realm="patchboard", error="invalid_token", scope="tools:call"',
    ]);
  });

  it('names the metadata document if the server has an issuer', async () => {
    const metadata = (host: string): string =>
      `resource_metadata="http://${host}/board/.well-known/oauth-protected-resource/test/resource"`;
    expect(await challenge(withIssuer, route.url, FORWARDED)).toEqual([
      401,
      `Bearer realm="patchboard", scope="tools:call", ${metadata(`127.0.0.1:${withIssuer.port}`)}`,
    ]);
    expect(await challenge(withIssuer, route.url, { ...BAD_TOKEN, host: 'board.example' })).toEqual([
      401,
      `Bearer realm="patchboard", error="invalid_token", scope="tools:call", ${metadata('board.example')}`,
    ]);
  });

  it('is not sent to a foreign host or origin', async () => {
    expect(await challenge(withIssuer, route.url, { host: 'evil.example' })).toEqual([421, undefined]);
    expect(await challenge(withIssuer, route.url, { origin: 'https://evil.example' })).toEqual([
      403,
      undefined,
    ]);
  });

  it('names a missing scope with 403, and nothing else with 403', async () => {
    expect(await challenge(without, strict.url, {})).toEqual([
      403,
      'Bearer error="insufficient_scope", scope="keys:write"',
    ]);
    expect(await challenge(withIssuer, strict.url, {})).toEqual([
      403,
      'Bearer error="insufficient_scope", scope="keys:write", ' +
        `resource_metadata="http://127.0.0.1:${withIssuer.port}/board/.well-known/oauth-protected-resource/test/resource"`,
    ]);
    const named = { authorization: `Bearer ${OPERATOR_TOKEN}`, 'x-agent-id': 'another' };
    expect(await challenge(without, strict.url, named)).toEqual([403, undefined]);
  });

  it('does not change that of other routes', async () => {
    expect(await challenge(withIssuer, '/v1/tools', FORWARDED)).toEqual([401, 'Bearer realm="patchboard"']);
    expect(await challenge(withIssuer, '/v1/tools', BAD_TOKEN)).toEqual([
      401,
      'Bearer realm="patchboard", error="invalid_token"',
    ]);
    expect(await challenge(withIssuer, '/test/plain', {})).toEqual([403, undefined]);
  });
});
