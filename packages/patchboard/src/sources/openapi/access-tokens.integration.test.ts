import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { resultOf } from '../../../test/support/an-openapi-caller.ts';
import { anOpenApiUpstream } from '../../../test/support/an-openapi-upstream.ts';
import {
  aDescribedApi,
  type DescribedApi,
  type ReceivedRequest,
} from '../../../test/support/described-api.ts';
import type { OAuthSettings } from '../shared/oauth-settings.ts';

const SECRET: OAuthSettings = {
  kind: 'client_credentials',
  clientId: 'pb',
  clientSecret: 'client-secret-value',
  scope: null,
  tokenUrl: null,
};

function describedWith(tokenUrl: string, scopes: readonly string[] = []) {
  const flows = { clientCredentials: { tokenUrl, scopes: {} } };
  return {
    openapi: '3.0.3',
    info: { title: 'Shop', version: '1' },
    components: { securitySchemes: { login: { type: 'oauth2', flows } } },
    paths: {
      '/items': {
        post: {
          operationId: 'add',
          security: [{ login: scopes }],
          responses: { 204: { description: 'ok' } },
        },
      },
    },
  };
}

interface OAuthApi {
  readonly api: DescribedApi;
  readonly tokenRequests: () => readonly ReceivedRequest[];
  readonly calls: () => readonly ReceivedRequest[];
}

/** An API whose `/token` gives out `token-1`, `token-2`, …; it accepts the tokens that `isValid` names. */
async function anOAuthApi(
  document: object,
  { isValid = () => true, status = 200 }: { isValid?: (token: string) => boolean; status?: number } = {},
): Promise<OAuthApi> {
  let count = 0;
  const api = await aDescribedApi(document as Record<string, unknown>, {
    respond: ({ path, headers }, response) => {
      if (path === '/token') {
        count += 1;
        response.writeHead(status, { 'content-type': 'application/json' });
        const token = { access_token: `token-${count}`, token_type: 'Bearer', expires_in: 3600 };
        response.end(JSON.stringify(status === 200 ? token : { error: 'invalid_client' }));
        return true;
      }
      if (path !== '/items' || isValid(headers.authorization ?? '')) return false;
      response.writeHead(401).end();
      return true;
    },
  });
  const at = (path: string) => () => api.requests.filter((request) => request.path === path);
  return { api, tokenRequests: at('/token'), calls: at('/items') };
}

async function connected({ api }: OAuthApi, oauth: OAuthSettings = SECRET, secrets: readonly string[] = []) {
  const settings = {
    description: { kind: 'url', url: `${api.origin}/openapi.json` },
    security: { login: { kind: 'oauth', oauth } },
  } as const;
  const scene = await anOpenApiUpstream(settings, secrets);
  await scene.becomes('connected');
  return scene;
}

describe('an access token', () => {
  it('comes from the token endpoint of the description, with the scopes of the operation, and is kept', async () => {
    const oauth = await anOAuthApi(describedWith('/token', ['write', 'read']));
    const { call } = await connected(oauth);
    await call('shop.add');
    expect(resultOf(await call('shop.add'))).toBeNull();
    expect(oauth.calls().map(({ headers }) => headers.authorization)).toEqual([
      'Bearer token-1',
      'Bearer token-1',
    ]);
    const [request, ...others] = oauth.tokenRequests();
    expect(others).toEqual([]);
    expect(Object.fromEntries(new URLSearchParams(request?.body))).toEqual({
      grant_type: 'client_credentials',
      scope: 'write read',
    });
    const basic = Buffer.from('pb:client-secret-value').toString('base64');
    expect(request?.headers.authorization).toBe(`Basic ${basic}`);
  });

  it('that the API refuses is renewed once, and the request is sent again', async () => {
    const oauth = await anOAuthApi(describedWith('/token'), {
      isValid: (token) => token === 'Bearer token-2',
    });
    const { call } = await connected(oauth);
    expect(resultOf(await call('shop.add'))).toBeNull();
    expect(oauth.calls()).toHaveLength(2);
    const keys = oauth.calls().map(({ headers }) => headers['idempotency-key']);
    expect(keys[0]).toBe(keys[1]);
  });

  it('is requested with a signed assertion for a private key', async () => {
    const oauth = await anOAuthApi(describedWith('https://unused.invalid/token'));
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const { call } = await connected(oauth, {
      kind: 'private_key_jwt',
      clientId: 'pb',
      privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
      algorithm: 'ES256',
      audience: null,
      scope: 'all',
      tokenUrl: `${oauth.api.origin}/token`,
    });
    expect(resultOf(await call('shop.add'))).toBeNull();
    const body = new URLSearchParams(oauth.tokenRequests()[0]?.body);
    expect(body.get('scope')).toBe('all');
    expect(body.get('client_assertion')?.split('.')).toHaveLength(3);
  });

  it('that is not given fails the call before it starts, without the secret', async () => {
    const oauth = await anOAuthApi(describedWith('/token'), { status: 401 });
    const { call } = await connected(oauth);
    const { state } = await call('shop.add');
    expect(state).toMatchObject({
      name: 'FAILED',
      error: {
        code: 'tool_failed',
        outcome: 'not_started',
        message: expect.stringMatching(/^security scheme login: .* status 401 \(invalid_client\)$/) as string,
      },
    });
    expect(oauth.calls()).toEqual([]);
  });

  it('that is not given shows no secret of the address of the token endpoint', async () => {
    const oauth = await anOAuthApi(describedWith('/unused'));
    const key = 'key-of-the-address';
    const tokenUrl = `${oauth.api.origin}/nowhere?api_key=${key}`;
    const { call, upstream } = await connected(oauth, { ...SECRET, tokenUrl }, [key]);
    const { state } = await call('shop.add');
    expect(state).toMatchObject({ name: 'FAILED', error: { outcome: 'not_started' } });
    expect(JSON.stringify([state, upstream.status()])).toContain('/nowhere?api_key=[redacted]');
    expect(JSON.stringify([state, upstream.status()])).not.toContain(key);
  });

  it('is not requested from an endpoint of the description that is neither encrypted nor configured', async () => {
    const other = await aDescribedApi({});
    const oauth = await anOAuthApi(describedWith(`${other.origin}/token`));
    const { call } = await connected(oauth);
    const { state } = await call('shop.add');
    expect(state).toMatchObject({ error: { code: 'tool_failed', outcome: 'not_started' } });
    expect(JSON.stringify(state)).toContain('set token_url');
    expect(other.requests).toEqual([]);
  });
});
