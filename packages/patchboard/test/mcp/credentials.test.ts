import { SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROUTES } from '../../src/wiring/apis.ts';
import { aPlatform, type TestPlatform } from '../guard/support/a-platform.ts';
import type { TestResponse } from '../guard/support/ask.ts';
import { requestTo, UNKNOWN } from '../guard/support/route-samples.ts';
import { deleteTool, echoTool } from '../guard/support/scene.ts';
import { ERAS, eraClient, TASKS } from './support/era-client.ts';

const SECRET = 'a secret of at least thirty-two characters';
const INTERNAL_KEY = 'an-internal-key-of-a-tenant-long-enough';
const ISSUER = 'https://issuer.example';

const endpoint = ROUTES.filter(({ url }) => url === '/mcp');

let local: TestPlatform;
let server: TestPlatform;
beforeAll(async () => {
  const environment = { TOKEN_SECRET: SECRET, INTERNAL_KEY };
  local = await aPlatform({ tools: [echoTool] });
  server = await aPlatform({
    tools: [echoTool, deleteTool],
    environment,
    config: {
      auth: {
        jwt: { issuer: ISSUER, audience: 'patchboard', secret_env: 'TOKEN_SECRET' },
        internal_keys: [{ tenant: 'default', key_env: 'INTERNAL_KEY' }],
      },
    },
  });
});
afterAll(async () => {
  await local.close();
  await server.close();
});

async function token(claims: Record<string, unknown>): Promise<string> {
  const exp = Math.floor(Date.now() / 1000) + 600;
  return await new SignJWT({ iss: ISSUER, aud: 'patchboard', sub: 'ada', exp, ...claims })
    .setProtectedHeader({ alg: 'HS256' })
    .sign(new TextEncoder().encode(SECRET));
}

it('the endpoint has a method to try', () => {
  expect(endpoint.map(({ method }) => method)).toContain('POST');
});

describe.each(endpoint)('$method /mcp', (route) => {
  const send = async (to: TestPlatform, headers: Record<string, string>): Promise<TestResponse> => {
    const request = requestTo(route, UNKNOWN);
    return await to.ask({ ...request, headers: { ...request.headers, ...headers } });
  };
  const bearer = (secret: string): Record<string, string> => ({ authorization: `Bearer ${secret}` });
  /** Past the credentials; the sample need not name a session that exists. */
  const expectAccepted = ({ status, headers }: TestResponse): void => {
    expect([401, 403]).not.toContain(status);
    expect(headers).not.toHaveProperty('www-authenticate');
  };

  it('is part of the protected resource, with the scope of a caller', () => {
    expect(route).toMatchObject({ scope: 'tools:call', protectedResource: '/mcp' });
    expect(route.takesInternalKey).toBeUndefined();
    expect(route.takesTicket).toBeUndefined();
  });

  it('accepts local mode, with or without a name', async () => {
    expectAccepted(await send(local, {}));
    expectAccepted(await send(local, { 'x-agent-id': 'ada' }));
  });

  it('accepts keys of agents, services and operators', async () => {
    for (const kind of ['agent', 'service', 'operator'] as const)
      expectAccepted(await send(server, (await server.mint({ kind, name: `a-${kind}` })).headers));
  });

  it('accepts tokens with the scope, and of agents without a claim', async () => {
    for (const claims of [{}, { scope: 'tools:call' }, { scope: ['calls:read', 'tools:call'] }])
      expectAccepted(await send(server, bearer(await token(claims))));
  });

  it('refuses credentials without the scope', async () => {
    const client = await server.mint({ kind: 'client', name: 'phone' });
    const reader = await server.mint({ kind: 'agent', name: 'reader', scopes: ['calls:read'] });
    const tokens = [{ scope: 'calls:read' }, { scope: '' }, { kind: 'client' }];
    const given = [client.headers, reader.headers];
    for (const claims of tokens) given.push({ authorization: `Bearer ${await token(claims)}` });
    for (const headers of given) {
      const refused = await send(server, headers);
      expect(refused.status).toBe(403);
      expect(refused.headers['www-authenticate']).toMatch(
        /^Bearer error="insufficient_scope", scope="tools:call", /,
      );
      expect(refused.json).toMatchObject({ id: null, error: { data: { code: 'permission_denied' } } });
    }
  });

  it('refuses the internal key of a tenant, in either header', async () => {
    for (const headers of [{ 'x-internal-api-key': INTERNAL_KEY }, bearer(INTERNAL_KEY)]) {
      const refused = await send(server, { 'x-tenant-id': 'default', ...headers });
      expect(refused.status).toBe(401);
      expect(refused.json).toMatchObject({ id: null, error: { data: { code: 'auth_required' } } });
      expect(refused.headers['www-authenticate']).toContain('scope="tools:call", resource_metadata="http://');
    }
  });
});

describe('a credential without the scope calls:read', () => {
  const call = { name: 'toy.echo', arguments: {} };
  const fetched = (id: string) => ({ name: 'patchboard__result', arguments: { tool_call_id: id } });
  const idIn = (result: { _meta: Record<string, string> }): string =>
    result._meta['patchboard/tool_call_id']!;

  it.each(ERAS)('reads its own calls, and none of others that its kind could see: %s', async (era) => {
    const { headers } = await server.mint({ kind: 'service', name: `${era}-caller`, scopes: ['tools:call'] });
    const own = await eraClient(server.platform.url, era, headers);
    const other = await eraClient(
      server.platform.url,
      era,
      (await server.mint({ kind: 'agent', name: era })).headers,
    );
    const ownId = idIn((await own.request('tools/call', call)).result);
    const id = idIn((await other.request('tools/call', call)).result);
    expect((await own.request('tools/call', fetched(ownId))).result).toMatchObject({ isError: false });
    expect((await own.request('tools/call', fetched(id))).error).toMatchObject({ code: -32_602 });
    if (era === 'legacy') return;
    expect((await own.request('tasks/get', { taskId: ownId }, TASKS)).result.status).toBe('completed');
    expect((await own.request('tasks/get', { taskId: id }, TASKS)).error).toMatchObject({ code: -32_602 });
    const stream = await own.listen({ taskIds: [ownId, id] }, TASKS);
    expect((await stream.next())?.params.notifications).toEqual({ taskIds: [ownId] });
    stream.close();
  });
});

describe('a call that an operator makes over MCP', () => {
  it('is decided by another operator only', async () => {
    const caller = await server.mint({ kind: 'operator', name: 'caller' });
    const other = await server.mint({ kind: 'operator', name: 'other' });
    const params = { name: 'toy.delete', arguments: { path: '/a' } };
    const responded = server.ask({
      method: 'POST',
      path: '/mcp',
      headers: { ...caller.headers, accept: 'application/json' },
      body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params },
    });
    const waiting = async (): Promise<{ tool_call_id: string; digest: string }[]> =>
      (await server.ask({ method: 'GET', path: '/v1/approvals', headers: other.headers })).json.approvals;
    await expect.poll(waiting).toHaveLength(1);
    const [{ tool_call_id: id, digest }] = (await waiting()) as [Awaited<ReturnType<typeof waiting>>[0]];
    const decide = async (headers: Record<string, string>): Promise<TestResponse> =>
      await server.ask({
        method: 'POST',
        path: `/v1/tool_calls/${id}/decision`,
        headers,
        body: { decision: 'allow', digest },
      });
    const own = await decide(caller.headers);
    expect([own.status, own.json.detail]).toEqual([403, expect.stringContaining('your own call')]);
    expect((await decide(other.headers)).status).toBe(200);
    expect((await responded).json.result).toMatchObject({ isError: false });
  });
});
