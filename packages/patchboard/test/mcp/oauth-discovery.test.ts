import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aPlatform, type TestPlatform } from '../guard/support/a-platform.ts';
import { echoTool } from '../guard/support/scene.ts';
import { aFixedPort } from '../support/a-fixed-port.ts';
import { anIssuer, tokenFrom, type TestIssuer } from './support/an-issuer.ts';

let issuer: TestIssuer;
let server: TestPlatform;
let endpoint: string;

beforeAll(async () => {
  issuer = await anIssuer('ada');
  const port = await aFixedPort();
  endpoint = `http://127.0.0.1:${port}/mcp`;
  const jwt = { issuer: issuer.url, audience: ['patchboard', endpoint], jwks_url: issuer.jwksUrl };
  server = await aPlatform({ tools: [echoTool], port, config: { auth: { jwt } } });
});
afterAll(async () => {
  await server.close();
  await issuer.close();
});

interface McpResponse {
  readonly status: number;
  /** The parameters of the challenge, or null. */
  readonly challenge: Readonly<Record<string, string>> | null;
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly json: any;
}

async function send(method: string, params: object, token?: string): Promise<McpResponse> {
  const response = await fetch(endpoint, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  return {
    status: response.status,
    challenge: parametersOf(response.headers.get('www-authenticate')),
    json: await response.json(),
  };
}

function parametersOf(challenge: string | null): Record<string, string> | null {
  if (challenge === null) return null;
  expect(challenge).toMatch(/^Bearer (?:[a-z_]+="[^"\\]*"(?:, |$))+$/);
  return Object.fromEntries(
    [...challenge.matchAll(/([a-z_]+)="([^"]*)"/g)].map(([, name, value]) => [name, value]),
  );
}

const INITIALIZE = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'test', version: '1' },
};
const metadataUrl = (): string => endpoint.replace('/mcp', '/.well-known/oauth-protected-resource/mcp');

describe('a client that knows only the URL of the endpoint', () => {
  it('finds the issuer by the challenge, gets a token for the resource, and calls a tool', async () => {
    const refused = await send('initialize', INITIALIZE);
    expect(refused.status).toBe(401);
    expect(refused.json).toMatchObject({
      jsonrpc: '2.0',
      id: null,
      error: { data: { code: 'auth_required' } },
    });
    expect(refused.challenge).toEqual({
      realm: 'patchboard',
      scope: 'tools:call',
      resource_metadata: metadataUrl(),
    });

    const found = await fetch(refused.challenge!['resource_metadata']!);
    const metadata = (await found.json()) as { resource: string; authorization_servers: string[] };
    expect(metadata.resource).toBe(endpoint);

    const token = await tokenFrom(metadata.authorization_servers[0]!, {
      resource: metadata.resource,
      scope: refused.challenge!['scope']!,
    });
    const accepted = await send('initialize', INITIALIZE, token);
    expect([accepted.status, accepted.json.result?.protocolVersion]).toEqual([200, '2025-11-25']);
    const called = await send('tools/call', { name: 'toy.echo', arguments: {} }, token);
    expect(called.json.result).toMatchObject({ isError: false });
    const id: unknown = called.json.result._meta['patchboard/tool_call_id'];
    const { json } = await server.asOperator('GET', `/v1/tool_calls/${String(id)}`);
    expect(json).toMatchObject({ state: 'COMPLETED', agent_id: 'ada' });
  });

  it.each<[string, object]>([
    ['for another resource', { aud: 'https://elsewhere.example/mcp' }],
    ['for the server, but not the endpoint', { aud: 'http://127.0.0.1' }],
    ['without an audience', { aud: undefined }],
    ['of another issuer', { iss: 'https://elsewhere.example' }],
    ['that has expired', { exp: 1_600_000_000 }],
  ])('is refused with a token %s, and told where to get another', async (_what, claims) => {
    const refused = await send('initialize', INITIALIZE, await issuer.sign({ aud: endpoint, ...claims }));
    expect(refused.status).toBe(401);
    expect(refused.json).toMatchObject({ id: null, error: { data: { code: 'auth_required' } } });
    expect(refused.challenge).toEqual({
      realm: 'patchboard',
      error: 'invalid_token',
      scope: 'tools:call',
      resource_metadata: metadataUrl(),
    });
  });

  it('is refused with a token whose scopes do not suffice, and told which one does', async () => {
    const token = await issuer.sign({ aud: endpoint, scope: 'calls:read' });
    const refused = await send('initialize', INITIALIZE, token);
    expect(refused.status).toBe(403);
    expect(refused.json).toMatchObject({ id: null, error: { data: { code: 'permission_denied' } } });
    expect(refused.challenge).toEqual({
      error: 'insufficient_scope',
      scope: 'tools:call',
      resource_metadata: metadataUrl(),
    });
  });
});
