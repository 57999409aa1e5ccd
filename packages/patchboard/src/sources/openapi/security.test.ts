import { describe, expect, it } from 'vitest';
import { anOpenApiCaller, json, resultOf } from '../../../test/support/an-openapi-caller.ts';
import type { SecuritySettings } from './openapi-settings.ts';
import type { SecurityRequirement, SecurityScheme } from './operation.ts';

const requirement = (name: string, scheme: SecurityScheme): SecurityRequirement => ({
  name,
  scopes: [],
  scheme,
});
const HEADER_KEY = requirement('key', { type: 'apiKey', in: 'header', name: 'X-Key' });
const QUERY_KEY = requirement('key', { type: 'apiKey', in: 'query', name: 'api_key' });
const COOKIE_KEY = requirement('key', { type: 'apiKey', in: 'cookie', name: 'session' });
const BEARER = requirement('bearer', { type: 'http', scheme: 'bearer' });
const BASIC = requirement('basic', { type: 'http', scheme: 'basic' });
const OAUTH = requirement('oauth', { type: 'oauth2', tokenUrl: 'https://id.example/token' });
const OPENID = requirement('openid', { type: 'openIdConnect' });
const VALUE: SecuritySettings = { kind: 'value', value: 'k&1' };
const CLIENT: SecuritySettings = {
  kind: 'oauth',
  oauth: { kind: 'client_credentials', clientId: 'pb', clientSecret: 's', scope: null, tokenUrl: null },
};
const ok = (): Response => json({ ok: true });

function numberedTokens() {
  let count = 1;
  const forgotten: string[] = [];
  return {
    forgotten,
    token: () => Promise.resolve(`token-${count}`),
    forget: (scheme: string, token: string) => {
      forgotten.push(`${scheme} ${token}`);
      count += 1;
    },
  };
}

async function request(
  security: readonly (readonly SecurityRequirement[])[],
  settings: Readonly<Record<string, SecuritySettings>>,
  headers: Readonly<Record<string, string>> = {},
) {
  const scene = await anOpenApiCaller({
    responses: [ok],
    operation: { security },
    settings: { security: settings, headers },
    tokens: numberedTokens(),
  });
  const { state } = await scene.call();
  return { state, url: scene.sent[0]?.url, headers: scene.sent[0]?.init.headers, sent: scene.sent };
}

describe('credentials', () => {
  it('of an API key are in the header, query or cookie that the scheme names', async () => {
    expect((await request([[HEADER_KEY]], { key: VALUE })).headers).toMatchObject({ 'x-key': 'k&1' });
    expect((await request([[QUERY_KEY]], { key: VALUE })).url).toBe(
      'https://api.example/items?api_key=k%261',
    );
    expect((await request([[COOKIE_KEY]], { key: VALUE })).headers).toMatchObject({
      cookie: 'session=k%261',
    });
  });

  it.each([
    [BEARER, VALUE, 'Bearer k&1'],
    [
      BASIC,
      { kind: 'basic', username: 'ü', password: 'p:w' },
      `Basic ${Buffer.from('ü:p:w').toString('base64')}`,
    ],
    [OAUTH, CLIENT, 'Bearer token-1'],
    [OAUTH, VALUE, 'Bearer k&1'],
    [OPENID, CLIENT, 'Bearer token-1'],
    [requirement('other', { type: 'http', scheme: 'token' }), VALUE, 'token k&1'],
  ] as const)('of %j', async (needed, settings, authorization) => {
    const { headers } = await request([[needed]], { [needed.name]: settings });
    expect(headers).toMatchObject({ authorization });
  });

  it('are those of the first alternative that is configured completely', async () => {
    const alternatives = [[HEADER_KEY, BASIC], [BEARER], [OAUTH]];
    const { headers } = await request(alternatives, { key: VALUE, bearer: VALUE, oauth: CLIENT });
    expect(headers).toMatchObject({ authorization: 'Bearer k&1' });
    expect(headers).not.toHaveProperty('x-key');
  });

  it('are sent together if a requirement needs several', async () => {
    const { headers } = await request([[HEADER_KEY, BEARER]], { key: VALUE, bearer: VALUE });
    expect(headers).toMatchObject({ 'x-key': 'k&1', authorization: 'Bearer k&1' });
  });

  it('are not needed without security, and sent if they are optional and configured', async () => {
    expect((await request([], {})).state).toMatchObject({ name: 'COMPLETED' });
    expect((await request([[], [BEARER]], {})).headers).not.toHaveProperty('authorization');
    expect((await request([[], [BEARER]], { bearer: VALUE })).headers).toHaveProperty('authorization');
  });

  it('may be a configured header instead', async () => {
    const { headers, state } = await request([[BEARER]], {}, { Authorization: 'Bearer mine' });
    expect(state).toMatchObject({ name: 'COMPLETED' });
    expect(headers).toMatchObject({ authorization: 'Bearer mine' });
  });

  it.each([
    [
      [[BEARER]],
      {},
      'GET /items needs the security scheme bearer: set openapi.shop.security.bearer with value_env',
    ],
    [
      [[BASIC]],
      { basic: VALUE },
      'GET /items needs the security scheme basic: set openapi.shop.security.basic with username_env and password_env',
    ],
    [
      [[OPENID]],
      { openid: VALUE },
      'GET /items needs the security scheme openid: set openapi.shop.security.openid with client_credentials or private_key_jwt',
    ],
    [
      [[requirement('mtls', { type: 'mutualTLS' })]],
      { mtls: VALUE },
      'GET /items needs the security scheme mtls, whose type is not supported: send the credential in `headers` of the upstream',
    ],
    [
      [[HEADER_KEY, BEARER]],
      { key: VALUE },
      'GET /items needs the security scheme bearer: set openapi.shop.security.bearer with value_env',
    ],
  ] as const)(
    'that are missing fail the call before it starts: %j %j',
    async (security, settings, message) => {
      const { state, sent } = await request(security, settings);
      expect(state).toMatchObject({
        name: 'FAILED',
        error: { code: 'tool_failed', outcome: 'not_started', retryable: false, message },
      });
      expect(sent).toEqual([]);
    },
  );
});

describe('an access token', () => {
  it.each([401, 403])('is renewed once after status %s', async (status) => {
    const tokens = numberedTokens();
    const scene = await anOpenApiCaller({
      responses: [() => json({}, status), ok],
      operation: { method: 'POST', security: [[OAUTH]] },
      settings: { security: { oauth: CLIENT } },
      tokens,
    });
    expect(resultOf(await scene.call())).toEqual({ ok: true });
    expect(scene.sent.map(({ init }) => init.headers['authorization'])).toEqual([
      'Bearer token-1',
      'Bearer token-2',
    ]);
    expect(tokens.forgotten).toEqual(['oauth token-1']);
  });

  it('that is refused again ends the call as not started, and is not retried', async () => {
    const scene = await anOpenApiCaller({
      responses: [() => json({}, 401), () => json({}, 401)],
      operation: { security: [[OAUTH]] },
      annotations: { idempotent: true },
      settings: { security: { oauth: CLIENT } },
      tokens: numberedTokens(),
    });
    expect((await scene.call()).state).toMatchObject({
      name: 'FAILED',
      error: { code: 'tool_failed', outcome: 'not_started', retryable: false },
    });
  });

  it('is not renewed where a fixed value is configured', async () => {
    const { call, sent } = await anOpenApiCaller({
      responses: [() => json({}, 401)],
      operation: { security: [[OAUTH]] },
      settings: { security: { oauth: VALUE } },
    });
    expect((await call()).state).toMatchObject({ error: { toolResult: { status: 401 } } });
    expect(sent).toHaveLength(1);
  });
});
