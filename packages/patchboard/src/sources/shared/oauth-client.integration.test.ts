import type { IncomingMessage, ServerResponse } from 'node:http';
import { decodeJwt, exportPKCS8, generateKeyPair, jwtVerify, type CryptoKey } from 'jose';
import { describe, expect, it } from 'vitest';
import { aLoopbackServer, bodyOf } from '../../../test/support/a-loopback-server.ts';
import { closedAfterEach } from '../../../test/support/after-each.ts';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import { isBeforeSend, TokenUnavailable } from './fetch-errors.ts';
import { guardedFetch, type GuardedFetchOptions } from './guarded-fetch.ts';
import { OAuthClient, type OAuthClientOptions } from './oauth-client.ts';
import type { OAuthSettings } from './oauth-settings.ts';
import { SecretMask } from './secret-mask.ts';

const closeLater = closedAfterEach();

const SECRET = 'p:ss w%rd+1';
const WITH_SECRET: OAuthSettings = {
  kind: 'client_credentials',
  clientId: 'client:1',
  clientSecret: SECRET,
  scope: 'repo read',
  tokenUrl: null,
};

interface Exchange {
  readonly request: IncomingMessage;
  readonly form: URLSearchParams;
  readonly number: number;
}

/** An authorization server and the resource server that it protects, at one origin. */
class Servers {
  readonly exchanges: Exchange[] = [];
  readonly paths: string[] = [];
  origin = '';
  /** The path that gets no response. */
  silent: string | null = null;
  metadata: Record<string, unknown> = {};
  authorizationMetadata: Record<string, unknown> | null = {};
  respond = (response: ServerResponse, { number }: Exchange): unknown =>
    sendJson(response, 200, {
      access_token: `access-token-${number}`,
      token_type: 'bearer',
      expires_in: 600,
    });

  async start(): Promise<void> {
    const server = await aLoopbackServer((request, response) => this.#handle(request, response));
    closeLater(() => server.close());
    this.origin = server.origin;
    this.metadata = { resource: `${this.origin}/mcp`, authorization_servers: [`${this.origin}/tenant`] };
    this.authorizationMetadata = {
      issuer: `${this.origin}/tenant`,
      authorization_endpoint: `${this.origin}/authorize`,
      token_endpoint: `${this.origin}/token`,
      response_types_supported: ['code'],
    };
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<unknown> {
    this.paths.push(request.url ?? '');
    if (request.url === this.silent) return null;
    switch (request.url) {
      case '/.well-known/oauth-protected-resource/mcp':
        return sendJson(response, 200, this.metadata);
      case '/.well-known/oauth-authorization-server/tenant':
        return sendJson(
          response,
          this.authorizationMetadata === null ? 404 : 200,
          this.authorizationMetadata,
        );
      case '/token': {
        const form = new URLSearchParams(await bodyOf(request));
        const exchange = { request, form, number: this.exchanges.length + 1 };
        this.exchanges.push(exchange);
        return this.respond(response, exchange);
      }
      default:
        return sendJson(response, 404, {});
    }
  }
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

async function aScene(settings: OAuthSettings = WITH_SECRET, over: Partial<OAuthClientOptions> = {}) {
  const servers = new Servers();
  await servers.start();
  const clock = new FakeClock();
  const mask = new SecretMask();
  const fetch = aFetch({ allowedOrigins: [servers.origin] });
  const resource = `${servers.origin}/mcp`;
  const client = new OAuthClient({ settings, resource, fetch, mask, clock, ...over });
  return { servers, clock, mask, client, resource };
}

function aFetch(options: GuardedFetchOptions) {
  const fetch = guardedFetch(options);
  closeLater(() => fetch.close());
  return fetch;
}

async function errorOf(promise: Promise<unknown>): Promise<TokenUnavailable> {
  const error = await promise.catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(TokenUnavailable);
  expect(isBeforeSend(error)).toBe(true);
  return error as TokenUnavailable;
}

async function aKey(): Promise<{ settings: OAuthSettings; publicKey: CryptoKey }> {
  const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true });
  const settings: OAuthSettings = {
    kind: 'private_key_jwt',
    clientId: 'client-2',
    privateKey: await exportPKCS8(privateKey),
    algorithm: 'ES256',
    audience: null,
    scope: null,
    tokenUrl: null,
  };
  return { settings, publicKey };
}

describe('OAuthClient', () => {
  it('finds the token endpoint and authenticates with the client secret', async () => {
    const { servers, client, resource } = await aScene();
    expect(await client.token()).toBe('access-token-1');
    const [{ request, form }] = servers.exchanges as [Exchange];
    const [id, secret] = Buffer.from(request.headers.authorization?.slice(6) ?? '', 'base64')
      .toString()
      .split(':')
      .map((part) => new URLSearchParams(`a=${part}`).get('a'));
    expect([id, secret]).toEqual(['client:1', SECRET]);
    expect(Object.fromEntries(form)).toEqual({
      grant_type: 'client_credentials',
      scope: 'repo read',
      resource,
    });
    expect(servers.paths.slice(0, 2)).toEqual([
      '/.well-known/oauth-protected-resource/mcp',
      '/.well-known/oauth-authorization-server/tenant',
    ]);
  });

  it('authenticates with a signed assertion for the issuer, each with its own jti', async () => {
    const { settings, publicKey } = await aKey();
    const { servers, client, clock, resource } = await aScene(settings);
    await client.token();
    client.forget();
    await client.token();
    const assertions = servers.exchanges.map(({ form }) => form.get('client_assertion') ?? '');
    for (const assertion of assertions) {
      const { payload, protectedHeader } = await jwtVerify(assertion, publicKey, {
        issuer: 'client-2',
        subject: 'client-2',
        audience: `${servers.origin}/tenant`,
        currentDate: new Date(clock.now()),
        requiredClaims: ['exp', 'iat', 'jti'],
        maxTokenAge: 1,
      });
      expect(protectedHeader.alg).toBe('ES256');
      expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBe(60);
    }
    expect(new Set(assertions.map((assertion) => decodeJwt(assertion).jti)).size).toBe(2);
    const [{ request, form }] = servers.exchanges as [Exchange, Exchange];
    expect(request.headers.authorization).toBeUndefined();
    expect(form.get('client_assertion_type')).toBe('urn:ietf:params:oauth:client-assertion-type:jwt-bearer');
    expect([form.get('client_id'), form.get('resource')]).toEqual(['client-2', resource]);
  });

  it('uses a configured token URL as it is, which is then the audience', async () => {
    const { settings, publicKey } = await aKey();
    const { servers, mask, clock } = await aScene();
    const tokenUrl = `${servers.origin}/token`;
    const fetch = aFetch({ allowedOrigins: [servers.origin] });
    const client = new OAuthClient({
      settings: { ...settings, tokenUrl },
      resource: null,
      fetch,
      mask,
      clock,
    });
    await client.token();
    expect(servers.paths).toEqual(['/token']);
    const assertion = servers.exchanges[0]?.form.get('client_assertion') ?? '';
    await jwtVerify(assertion, publicKey, { audience: tokenUrl, currentDate: new Date(clock.now()) });
    expect(servers.exchanges[0]?.form.has('resource')).toBe(false);
  });

  it('keeps a token until shortly before it expires', async () => {
    const { client, clock } = await aScene();
    expect([await client.token(), await client.token()]).toEqual(['access-token-1', 'access-token-1']);
    await clock.advance(539_999);
    expect(await client.token()).toBe('access-token-1');
    await clock.advance(1);
    expect(await client.token()).toBe('access-token-2');
  });

  it('keeps a token without a lifetime until it is refused', async () => {
    const { client, clock, servers } = await aScene();
    servers.respond = (response, { number }) =>
      sendJson(response, 200, { access_token: `access-token-${number}`, token_type: 'Bearer' });
    await client.token();
    await clock.advance(1_000_000_000);
    expect(await client.token()).toBe('access-token-1');
    client.forget('access-token-1');
    expect(await client.token()).toBe('access-token-2');
    client.forget('access-token-1');
    expect(await client.token()).toBe('access-token-2');
  });

  it('shares one request among all callers, also if one of them is aborted', async () => {
    const { client, servers } = await aScene();
    const abort = new AbortController();
    const reason = new Error('enough');
    servers.respond = (response, { number }) => {
      abort.abort(reason);
      sendJson(response, 200, { access_token: `access-token-${number}`, token_type: 'Bearer' });
    };
    const aborted = expect(client.token(abort.signal)).rejects.toBe(reason);
    const tokens = await Promise.all(
      Array.from({ length: 20 }, () => client.token(new AbortController().signal)),
    );
    await aborted;
    expect(new Set(tokens)).toEqual(new Set(['access-token-1']));
    expect(servers.exchanges).toHaveLength(1);
  });

  it('requests again after a failure', async () => {
    const { client, servers } = await aScene();
    const respond = servers.respond;
    servers.respond = (response) => sendJson(response, 503, {});
    expect((await errorOf(client.token())).mayRetry).toBe(true);
    servers.respond = respond;
    expect(await client.token()).toBe('access-token-2');
  });

  it.each(['/token', '/.well-known/oauth-protected-resource/mcp'])(
    'ends a request without a response after 30 s: %s',
    async (path) => {
      const { client, clock, servers } = await aScene();
      servers.silent = path;
      const failed = errorOf(client.token());
      await expect.poll(() => servers.paths).toContain(path);
      await clock.advance(30_000);
      expect((await failed).message).toContain('did not respond within 30 s');
      servers.silent = null;
      expect(await client.token()).toMatch(/^access-token-/);
    },
  );

  it('masks tokens, and the newest earlier ones', async () => {
    const { client, mask } = await aScene();
    for (let count = 1; count <= 7; count += 1) {
      await client.token();
      client.forget();
    }
    const isMasked = (number: number) => mask.text(`access-token-${number}`) === '[redacted]';
    expect([1, 2, 3, 4, 5, 6, 7].map(isMasked)).toEqual([false, false, true, true, true, true, true]);
  });

  it.each([WITH_SECRET, null])(
    'shows the reason of a refusal without credentials that it repeats',
    async (given) => {
      const { client, servers } = await aScene(given ?? (await aKey()).settings);
      let sent = '';
      servers.respond = (response, { request, form }) => {
        sent = request.headers.authorization ?? form.get('client_assertion') ?? '';
        sendJson(response, 401, {
          error: 'invalid_client',
          error_description: `bad\u200b ${sent} or ${SECRET}`,
        });
      };
      const error = await errorOf(client.token());
      expect(error.mayRetry).toBe(false);
      expect(error.message).toMatch(/\/token responded with status 401 \(invalid_client: bad \[redacted\]/);
      expect(error.message).not.toContain(sent.slice(10, 30));
      expect(error.cause).toBeUndefined();
    },
  );
});

describe('OAuthClient: what it refuses', () => {
  it('does not follow metadata to a private address', async () => {
    const inner = new Servers();
    await inner.start();
    const { client, servers } = await aScene();
    servers.metadata = { ...servers.metadata, authorization_servers: [`${inner.origin}/tenant`] };
    const error = await errorOf(client.token());
    expect(error.message).toContain('is not a public address');
    expect(error.mayRetry).toBe(false);
    expect(inner.paths).toEqual([]);
  });

  it.each([
    ['https', 'https://127.0.0.1:444/token', 'is not a public address'],
    ['http', 'http://auth.example/token', 'does not use https'],
  ])(
    'does not send credentials to a token endpoint of the metadata: %s',
    async (_, token_endpoint, problem) => {
      const { client, servers } = await aScene();
      servers.authorizationMetadata = { ...servers.authorizationMetadata, token_endpoint };
      expect((await errorOf(client.token())).message).toContain(problem);
    },
  );

  it('does not use the metadata of another resource or issuer', async () => {
    const { client, servers } = await aScene();
    const { metadata } = servers;
    servers.metadata = { ...metadata, resource: 'https://other.example/mcp' };
    expect((await errorOf(client.token())).message).toContain('another resource, https://other.example/mcp');
    servers.metadata = metadata;
    servers.authorizationMetadata = { ...servers.authorizationMetadata, issuer: 'https://other.example' };
    expect((await errorOf(client.token())).message).toContain('https://other.example');
    expect(servers.exchanges).toEqual([]);
  });

  it('does not follow a redirect of the token endpoint', async () => {
    const { client, servers } = await aScene();
    servers.respond = (response) => response.writeHead(307, { location: '/elsewhere' }).end();
    expect((await errorOf(client.token())).message).toContain('status 307');
    expect(servers.paths).not.toContain('/elsewhere');
  });

  it.each([
    ['no token', { token_type: 'Bearer' }, 'contains no access_token'],
    ['another type', { access_token: 'x', token_type: 'DPoP' }, 'token_type other than Bearer'],
  ])('rejects a response with %s', async (_, body, problem) => {
    const { client, servers } = await aScene();
    servers.respond = (response) => sendJson(response, 200, body);
    expect((await errorOf(client.token())).message).toContain(problem);
  });

  it('asks for token_url where no endpoint is found', async () => {
    const { client, servers } = await aScene();
    servers.authorizationMetadata = null;
    expect((await errorOf(client.token())).message).toContain('set token_url');
    const { client: unknown } = await aScene(WITH_SECRET, { resource: null });
    expect((await errorOf(unknown.token())).message).toContain('set token_url');
  });

  it('rejects a private key that does not fit', async () => {
    const { settings } = await aKey();
    const { client } = await aScene({ ...settings, privateKey: 'no key' } as OAuthSettings);
    const error = await errorOf(client.token());
    expect([error.message, error.mayRetry]).toEqual([
      expect.stringContaining('is not a PKCS #8 key for ES256'),
      false,
    ]);
  });
});
