import { createHmac, createPublicKey, type KeyObject } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, exportSPKI, generateKeyPair, SignJWT, type CryptoKey, type JWTPayload } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { nodeClock } from '../runtime/node-clock.ts';
import { isFailure } from '../transports/shared/routes/caller.ts';
import { JwtIdentity, type JwtSettings } from './jwt-identity.ts';

const ISSUER = 'https://issuer.example';
const AUDIENCE = 'patchboard';
const RESOURCE = 'https://board.example/mcp';
const SECRET = 'a secret of at least thirty-two characters';
const secretBytes = new TextEncoder().encode(SECRET);

const now = Math.floor(Date.now() / 1000);
const GOOD: JWTPayload = { iss: ISSUER, aud: AUDIENCE, sub: 'ada', exp: now + 600 };

type Pair = { publicKey: CryptoKey; privateKey: CryptoKey };
let rsa: Pair;
let ec: Pair;
let stranger: Pair;
let jwksServer: Server;
let jwksUrl: string;
let isServing = true;
let jwks: { keys: Record<string, unknown>[] };

beforeAll(async () => {
  [rsa, ec, stranger] = await Promise.all([
    generateKeyPair('RS256', { extractable: true }),
    generateKeyPair('ES256', { extractable: true }),
    generateKeyPair('RS256', { extractable: true }),
  ]);
  jwks = {
    keys: [
      { ...(await exportJWK(rsa.publicKey)), kid: 'rsa-1', alg: 'RS256', use: 'sig' },
      { ...(await exportJWK(ec.publicKey)), kid: 'ec-1', alg: 'ES256', use: 'sig' },
    ],
  };
  jwksServer = createServer((_request, response) => {
    response.statusCode = isServing ? 200 : 500;
    response.setHeader('content-type', 'application/json').end(JSON.stringify(jwks));
  }).listen(0, '127.0.0.1');
  await once(jwksServer, 'listening');
  jwksUrl = `http://127.0.0.1:${(jwksServer.address() as AddressInfo).port}/jwks.json`;
});
afterAll(() => {
  jwksServer.close();
});

function identity(keys: JwtSettings['keys']): JwtIdentity {
  return new JwtIdentity({ issuer: ISSUER, audience: AUDIENCE, keys }, nodeClock);
}

function forAudience(audience: JwtSettings['audience']): JwtIdentity {
  return new JwtIdentity({ issuer: ISSUER, audience, keys: { kind: 'secret', secret: SECRET } }, nodeClock);
}

const bySecret = (): JwtIdentity => identity({ kind: 'secret', secret: SECRET });
const byFile = (): JwtIdentity => identity({ kind: 'jwks', jwks });
const byUrl = (): JwtIdentity => identity({ kind: 'jwks_url', url: jwksUrl });

async function hs256(claims: JWTPayload, secret = secretBytes): Promise<string> {
  return await new SignJWT(claims).setProtectedHeader({ alg: 'HS256' }).sign(secret);
}

async function signed(
  key: CryptoKey | KeyObject,
  alg: string,
  kid?: string,
  claims: JWTPayload = GOOD,
): Promise<string> {
  const header = kid === undefined ? { alg } : { alg, kid };
  return await new SignJWT(claims).setProtectedHeader(header).sign(key);
}

/** A token with any header and any signature. */
function forged(header: unknown, claims: unknown, signature: (input: string) => string): string {
  const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const input = `${part(header)}.${part(claims)}`;
  return `${input}.${signature(input)}`;
}

/** Returns the message of the failure. */
async function refusal(by: JwtIdentity, token: string): Promise<string> {
  const found = await by.authenticate(token);
  if (!isFailure(found)) throw new Error(`the token was accepted: ${JSON.stringify(found)}`);
  expect(found.code).toBe('auth_required');
  return found.message;
}

describe('a valid token', () => {
  it('signed with the shared secret is an agent of the default tenant, until it expires', async () => {
    expect(await bySecret().authenticate(await hs256(GOOD))).toEqual({
      kind: 'agent',
      id: 'ada',
      tenant: 'default',
      scopes: new Set(['tools:call', 'calls:read']),
      agentId: 'ada',
      clientId: 'ada',
      credential: { id: 'jwt:default ada', expiresAt: (now + 600) * 1000 },
    });
  });

  it('is accepted with a key set from a file and from a URL, RS256 and ES256', async () => {
    for (const by of [byFile(), byUrl()]) {
      for (const token of [
        await signed(rsa.privateKey, 'RS256', 'rsa-1'),
        await signed(ec.privateKey, 'ES256', 'ec-1'),
      ]) {
        expect(await by.authenticate(token)).toMatchObject({ id: 'ada', kind: 'agent' });
      }
    }
  });

  it('may name several audiences if ours is one of them', async () => {
    const token = await hs256({ ...GOOD, aud: ['somewhere', AUDIENCE] });
    expect(await bySecret().authenticate(token)).toMatchObject({ id: 'ada' });
  });

  it('is accepted for each of several audiences of ours', async () => {
    const by = forAudience([AUDIENCE, RESOURCE]);
    for (const aud of [AUDIENCE, RESOURCE, [RESOURCE], ['somewhere', RESOURCE]])
      expect(await by.authenticate(await hs256({ ...GOOD, aud }))).toMatchObject({ id: 'ada' });
  });

  it.each([
    ['a narrower scope', { scope: 'calls:read' }, { scopes: new Set(['calls:read']) }],
    ['scopes as a list', { scope: ['calls:read'] }, { scopes: new Set(['calls:read']) }],
    ['more than the kind may', { scope: 'calls:read policy:write' }, { scopes: new Set(['calls:read']) }],
    ['no scope at all', { scope: '' }, { scopes: new Set() }],
    ['a tenant', { tenant: 'acme' }, { tenant: 'acme' }],
    ['a kind', { kind: 'client' }, { kind: 'client', scopes: new Set(['tools:serve']) }],
  ])('with %s', async (_what, claims, expected) => {
    expect(await bySecret().authenticate(await hs256({ ...GOOD, ...claims }))).toMatchObject(expected);
  });
});

describe('a token is refused', () => {
  it.each([
    ['exp', 'missing'],
    ['sub', 'missing'],
    ['aud', 'missing'],
    ['iss', 'missing'],
  ])('without %s', async (claim) => {
    const { [claim]: _left, ...rest } = GOOD;
    expect(await refusal(bySecret(), await hs256(rest))).toContain(claim);
  });

  it.each<[string, JWTPayload, RegExp]>([
    ['another audience', { aud: 'somewhere' }, /aud/],
    ['an audience that only begins like ours', { aud: `${AUDIENCE}.evil` }, /aud/],
    ['another issuer', { iss: 'https://evil.example' }, /iss/],
    ['an issuer with a slash more', { iss: `${ISSUER}/` }, /iss/],
    ['an exp in the past', { exp: now - 60 }, /expired/],
    ['an nbf in the future', { nbf: now + 600 }, /nbf/],
    ['an exp that is no number', { exp: 'never' as unknown as number }, /exp/],
    ['an empty sub', { sub: '' }, /sub/],
    ['a sub with a line break', { sub: 'ada\nroot' }, /sub/],
    ['a sub that is no text', { sub: 7 as unknown as string }, /sub/],
    ['an unknown scope', { scope: 'calls:read everything' }, /scope/],
    ['a scope that is no text', { scope: { all: true } }, /scope/],
    ['the kind local', { kind: 'local' }, /kind/],
    ['an unknown kind', { kind: 'root' }, /kind/],
    ['a tenant that is no text', { tenant: ['acme'] }, /tenant/],
    ['a tenant with a space', { tenant: 'ac me' }, /tenant/],
  ])('with %s', async (_what, claims, message) => {
    expect(await refusal(bySecret(), await hs256({ ...GOOD, ...claims }))).toMatch(message);
  });

  it('for an audience that is none of ours, or without one, if we have several', async () => {
    const by = forAudience([AUDIENCE, RESOURCE]);
    for (const aud of [
      'somewhere',
      `${RESOURCE}/`,
      `${RESOURCE}x`,
      'https://board.example',
      [],
      ['a', 'b'],
      '',
      `${AUDIENCE},${RESOURCE}`,
    ])
      expect(await refusal(by, await hs256({ ...GOOD, aud }))).toMatch(/aud/);
    const { aud: _left, ...rest } = GOOD;
    expect(await refusal(by, await hs256(rest))).toMatch(/aud/);
  });

  it.each<[string, unknown]>([
    ['an empty', ''],
    ['no', undefined],
    ['an empty list as', []],
  ])('for every audience by settings with %s audience', async (_what, audience) => {
    const by = forAudience(audience as string);
    for (const aud of [AUDIENCE, 'somewhere', ['somewhere']])
      expect(await refusal(by, await hs256({ ...GOOD, aud }))).toMatch(/aud/);
  });

  it.each<[string, unknown]>([
    ['an empty', ''],
    ['no', undefined],
  ])('of every issuer by settings with %s issuer', async (_what, issuer) => {
    const keys = { kind: 'secret', secret: SECRET } as const;
    const by = new JwtIdentity({ issuer: issuer as string, audience: AUDIENCE, keys }, nodeClock);
    expect(await refusal(by, await hs256(GOOD))).toMatch(/iss/);
  });

  it.each(['none', 'None', 'NONE', ''])('with the algorithm "%s"', async (alg) => {
    const token = forged({ alg, typ: 'JWT' }, GOOD, () => '');
    for (const by of [bySecret(), byFile()]) await refusal(by, token);
  });

  it('signed with the public key as if it were a secret', async () => {
    const pem = await exportSPKI(rsa.publicKey);
    const der = createPublicKey(pem).export({ type: 'spki', format: 'der' });
    const jwk = JSON.stringify(jwks.keys[0]);
    for (const secret of [pem, pem.trim(), der, jwk]) {
      const token = forged({ alg: 'HS256', kid: 'rsa-1' }, GOOD, (input) =>
        createHmac('sha256', secret).update(input).digest('base64url'),
      );
      for (const by of [byFile(), byUrl()]) await refusal(by, token);
    }
  });

  it('signed with an algorithm that does not match the kind of key', async () => {
    await refusal(bySecret(), await signed(rsa.privateKey, 'RS256'));
    const hs512 = await new SignJWT(GOOD)
      .setProtectedHeader({ alg: 'HS512' })
      .sign(new TextEncoder().encode(SECRET.repeat(2)));
    await refusal(bySecret(), hs512);
  });

  it("with an unknown key id, or another key's id", async () => {
    for (const by of [byFile(), byUrl()]) {
      await refusal(by, await signed(rsa.privateKey, 'RS256', 'rsa-2'));
      await refusal(by, await signed(stranger.privateKey, 'RS256', 'rsa-1'));
      await refusal(by, await signed(stranger.privateKey, 'RS256'));
    }
  });

  it('that brings its own key in the header', async () => {
    const jwk = await exportJWK(stranger.publicKey);
    const token = await new SignJWT(GOOD)
      .setProtectedHeader({ alg: 'RS256', jwk, jku: 'http://evil.example/jwks' })
      .sign(stranger.privateKey);
    for (const by of [byFile(), byUrl()]) await refusal(by, token);
  });

  it('with another secret, a changed claim or a cut signature', async () => {
    const token = await hs256(GOOD);
    const [header, , signature] = token.split('.');
    const other = Buffer.from(JSON.stringify({ ...GOOD, sub: 'root' })).toString('base64url');
    await refusal(bySecret(), await hs256(GOOD, new TextEncoder().encode('x'.repeat(32))));
    await refusal(bySecret(), `${header}.${other}.${signature}`);
    await refusal(bySecret(), token.slice(0, -4));
    for (const text of ['', '.', '..', 'a.b', 'a.b.c', 'a.b.c.d.e', token.repeat(50)]) {
      await refusal(bySecret(), text);
    }
  });
});

describe('a token that cannot be verified', () => {
  it('fails with `overloaded` while the key set cannot be fetched, and is accepted once it can', async () => {
    const token = await signed(rsa.privateKey, 'RS256', 'rsa-1');
    const by = byUrl();
    isServing = false;
    expect(await by.authenticate(token)).toMatchObject({ code: 'overloaded', retryable: true });
    isServing = true;
    expect(await by.authenticate(token)).toMatchObject({ id: 'ada' });
  });

  it('fails with `overloaded` when the connection to the key set is refused', async () => {
    const gone = createServer().listen(0, '127.0.0.1');
    await once(gone, 'listening');
    const { port } = gone.address() as AddressInfo;
    gone.close();
    await once(gone, 'close');
    const by = identity({ kind: 'jwks_url', url: `http://127.0.0.1:${port}/jwks.json` });
    const found = await by.authenticate(await signed(rsa.privateKey, 'RS256', 'rsa-1'));
    expect(found).toMatchObject({ code: 'overloaded', retryable: true });
  });
});
