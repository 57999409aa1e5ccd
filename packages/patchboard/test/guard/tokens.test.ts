import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aPlatform, recordOf, type TestPlatform } from './support/a-platform.ts';
import { open, textOf, type TestResponse } from './support/ask.ts';
import { echoTool } from './support/scene.ts';

const RESOURCE = 'https://board.example/mcp';

let folder: string;
let privateKey: CryptoKey;
let server: TestPlatform;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'patchboard-jwks-'));
  const pair = await generateKeyPair('ES256', { extractable: true });
  privateKey = pair.privateKey;
  const jwks = join(folder, 'jwks.json');
  writeFileSync(jwks, JSON.stringify({ keys: [{ ...(await exportJWK(pair.publicKey)), kid: 'k1' }] }));
  server = await aPlatform({
    tools: [echoTool],
    config: {
      auth: {
        jwt: { issuer: 'https://issuer.example', audience: ['patchboard', RESOURCE], jwks_file: jwks },
      },
    },
  });
});
afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

async function token(claims: Record<string, unknown> = {}, lifetimeS = 600): Promise<string> {
  const exp = Math.floor(Date.now() / 1000) + lifetimeS;
  const payload = { iss: 'https://issuer.example', aud: 'patchboard', sub: 'ada', exp, ...claims };
  return await new SignJWT(payload).setProtectedHeader({ alg: 'ES256', kid: 'k1' }).sign(privateKey);
}

async function invoke(secret: string, headers = {}): Promise<TestResponse> {
  return await server.ask({
    method: 'POST',
    path: '/v1/tools/toy.echo/invoke',
    headers: { authorization: `Bearer ${secret}`, prefer: 'wait=10', ...headers },
    body: { run_id: 'run_jwt', args: {} },
  });
}

describe('a token of another issuer', () => {
  it('calls tools as its subject', async () => {
    const response = await invoke(await token());
    expect(response.json).toMatchObject({ state: 'COMPLETED', agent_id: 'ada' });
  });

  it('is accepted for every configured audience', async () => {
    for (const aud of ['patchboard', RESOURCE, ['elsewhere', RESOURCE]])
      expect((await invoke(await token({ aud }))).status).toBe(200);
  });

  it.each([
    ['wrong audience', { aud: 'elsewhere' }, 401],
    ['no audience', { aud: undefined }, 401],
    ['an empty audience', { aud: '' }, 401],
    ['an empty list of audiences', { aud: [] }, 401],
    ['an audience that begins like ours', { aud: `${RESOURCE}/other` }, 401],
    ['wrong issuer', { iss: 'https://evil.example' }, 401],
    ['expired', { exp: 1_600_000_000 }, 401],
    ['no subject', { sub: undefined }, 401],
    ['an expiry in milliseconds', { exp: Date.now() + 600_000 }, 401],
    ['an expiry in eleven years', { exp: Math.floor(Date.now() / 1000) + 11 * 31_557_600 }, 401],
    ['an expiry that is no safe integer', { exp: 1e300 }, 401],
    ['an expiry between two seconds', { exp: Math.floor(Date.now() / 1000) + 600.5 }, 401],
    ['scope too narrow', { scope: 'calls:read' }, 403],
    ['a client, which calls nothing', { kind: 'client' }, 403],
  ])('is refused and leaves nothing behind: %s', async (_what, claims, status) => {
    const before = await recordOf(server.store);
    const response = await invoke(await token(claims));
    expect(response.status).toBe(status);
    expect(await recordOf(server.store)).toEqual(before);
  });

  it.each(['x-agent-id', 'x-client-id', 'x-tenant-id'])(
    'says who is asking, whatever %s says',
    async (header) => {
      const response = await invoke(await token(), { [header]: 'somebody' });
      expect([response.status, response.json.code]).toEqual([403, 'permission_denied']);
    },
  );

  it('sees its own tenant and no other', async () => {
    const { json } = await invoke(await token());
    const read = async (secret: string): Promise<number> =>
      (
        await server.ask({
          method: 'GET',
          path: `/v1/tool_calls/${json.tool_call_id}`,
          headers: { authorization: `Bearer ${secret}` },
        })
      ).status;
    expect(await read(await token())).toBe(200);
    expect(await read(await token({ tenant: 'other' }))).toBe(404);
    expect(await read(await token({ tenant: 'other', kind: 'operator' }))).toBe(404);
    expect(await read(await token({ sub: 'bob' }))).toBe(404);
  });

  it('that is larger than headers may be gets no response but that', async () => {
    const response = await invoke(`${await token()}${'x'.repeat(20_000)}`);
    expect([response.status, response.json.code]).toEqual([431, 'too_large']);
  });

  it('ends the stream it opened when it expires', async () => {
    const headers = { authorization: `Bearer ${await token({}, 2)}` };
    const stream = await open(server.port, { method: 'GET', path: '/v1/events', headers });
    expect(stream.statusCode).toBe(200);
    await textOf(stream);
  });

  it('is not in the log or the ledger', async () => {
    const secret = await token();
    await invoke(secret);
    const [, , signature] = secret.split('.');
    const ledger = await server.asOperator('GET', '/v1/ledger/export');
    expect(ledger.text + server.log()).not.toContain(signature);
  });
});
