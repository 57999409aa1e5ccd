import { SESSION_COOKIE } from '@patchboard/wire';
import { describe, expect, it } from 'vitest';
import { SCOPES } from '../../src/core/access/scopes.ts';
import type { Route } from '../../src/transports/shared/routes/routes.ts';
import { ROUTES } from '../../src/wiring/apis.ts';
import type { KeyWanted, MintedKey } from './support/a-platform.ts';
import { codeIn, open, textOf } from './support/ask.ts';
import { useScene } from './support/credential-matrix.ts';
import { requestTo, UNKNOWN, type Ids } from './support/route-samples.ts';

type Headers = Readonly<Record<string, string>>;

const scene = useScene();

async function signIn(token: string): Promise<Headers> {
  const response = await scene().ask({ method: 'POST', path: '/v1/session', body: { token } });
  expect(response.status).toBe(200);
  const id = /=([^;]+);/.exec(String(response.headers['set-cookie']))?.[1] ?? '';
  return { cookie: `${SESSION_COOKIE}=${id}`, 'x-session-proof': (response.json as { proof: string }).proof };
}

async function get(path: string, headers: Headers): Promise<[number, string | null]> {
  const response = await scene().ask({ method: 'GET', path, headers });
  return [response.status, response.status >= 400 ? codeIn(response) : null];
}

async function aKey(wanted: KeyWanted): Promise<MintedKey> {
  return await scene().mint(wanted);
}

/** Opening and closing a session are about the cookie itself. */
const COMPARED = ROUTES.filter(({ name }) => !['openSession', 'closeSession'].includes(name));

async function responseTo(route: Route, ids: Ids, own: Headers): Promise<unknown> {
  const request = requestTo(route, ids);
  const response = await scene().ask({ ...request, headers: { ...request.headers, ...own } });
  return { status: response.status, code: response.status >= 400 ? codeIn(response) : null };
}

describe('a session of a key', () => {
  it('gets the same response as the key, on every route', async () => {
    const { boss, neighbour, stranger, without } = scene();
    const holders = { boss, neighbour, stranger, ...Object.fromEntries(without) };
    for (const [holder, key] of Object.entries(holders)) {
      const session = await signIn(key.secret);
      const ids = { ...UNKNOWN, client: holder === 'neighbour' ? 'agent-b' : 'boss' };
      for (const route of COMPARED) {
        const at = `${holder}: ${route.method} ${route.url}`;
        const [byKey, bySession] = [
          await responseTo(route, ids, key.headers),
          await responseTo(route, ids, session),
        ];
        expect([at, bySession]).toEqual([at, byKey]);
      }
    }
  });

  it('is refused where the operator token is needed, in another tenant, and as another agent', async () => {
    const session = await signIn(scene().boss.secret);
    const link = await scene().ask({ method: 'POST', path: '/v1/session/link', headers: session });
    expect([link.status, codeIn(link)]).toEqual([403, 'permission_denied']);
    for (const header of ['x-tenant-id', 'x-agent-id', 'x-client-id'])
      expect(await get('/v1/tools', { ...session, [header]: 'other' })).toEqual([403, 'permission_denied']);
    expect(await get('/v1/tools', { ...session, 'x-session-proof': 'guessed' })).toEqual([
      401,
      'auth_required',
    ]);
  });

  it('makes no key with more rights, of another principal, or with a longer life than its own key', async () => {
    const expires_at = new Date(Date.now() + 3_600_000).toISOString();
    const wanted = { kind: 'agent', name: 'minter', scopes: ['keys:write', 'calls:read'], expires_at };
    const made = await scene().asOperator('POST', '/v1/keys', wanted);
    const headers = await signIn((made.json as { key: string }).key);
    const create = async (body: object): Promise<number> =>
      (await scene().ask({ method: 'POST', path: '/v1/keys', headers, body })).status;
    expect(await create(wanted)).toBe(201);
    for (const wider of [
      { scopes: SCOPES },
      { scopes: ['tools:call'] },
      { kind: 'operator' },
      { name: 'other' },
      { tenant_id: 'other' },
      { expires_at: null },
      { expires_at: new Date(Date.now() + 7_200_000).toISOString() },
    ])
      expect([wider, await create({ ...wanted, ...wider })]).toEqual([wider, 403]);
  });

  it('says who is signed in', async () => {
    const auditor = await aKey({
      kind: 'service',
      name: 'auditor',
      tenant: 'acme',
      scopes: ['calls:read', 'ledger:read'],
    });
    const current = async (headers: Headers): Promise<unknown> =>
      (await scene().ask({ method: 'GET', path: '/v1/session', headers })).json;
    expect(await current(await signIn(auditor.secret))).toEqual({
      kind: 'key',
      name: 'auditor',
      tenant: 'acme',
      scopes: ['calls:read', 'ledger:read'],
      expires_at: expect.any(String) as string,
      key_id: auditor.id,
      principal_kind: 'service',
    });
    expect(await current(auditor.headers)).toMatchObject({ kind: 'key', expires_at: null });
    expect(await current(await signIn(scene().operatorToken))).toEqual({
      kind: 'operator',
      name: 'operator',
      tenant: null,
      scopes: [...SCOPES],
      expires_at: expect.any(String) as string,
      principal_kind: 'operator',
    });
  });

  it('ends at once with its key, and so do its streams and its tickets', async () => {
    const key = await aKey({ kind: 'client', name: 'walker', scopes: ['calls:read', 'tools:serve'] });
    const headers = await signIn(key.secret);
    const stream = await open(scene().port, { method: 'GET', path: '/v1/events', headers });
    const made = await scene().ask({ method: 'POST', path: '/v1/tickets', headers, body: {} });
    expect([stream.statusCode, made.status]).toEqual([200, 201]);
    await scene().asOperator('DELETE', `/v1/keys/${key.id}`);
    await textOf(stream);
    expect(await get('/v1/tool_calls', headers)).toEqual([401, 'auth_required']);
    const { ticket } = made.json as { ticket: string };
    expect(await get(`/ws?ticket=${ticket}`, {})).toEqual([401, 'auth_required']);
  });

  it('ends with its streams when it signs out; the key stays', async () => {
    const { boss } = scene();
    const headers = await signIn(boss.secret);
    const stream = await open(scene().port, { method: 'GET', path: '/v1/events', headers });
    expect((await scene().ask({ method: 'DELETE', path: '/v1/session', headers })).status).toBe(200);
    await textOf(stream);
    expect(await get('/v1/tools', headers)).toEqual([401, 'auth_required']);
    expect(await get('/v1/tools', boss.headers)).toEqual([200, null]);
  });

  it('is not opened for a page of another site', async () => {
    const { boss } = scene();
    for (const headers of [
      { origin: 'https://evil.example' },
      { 'sec-fetch-site': 'cross-site' },
      { 'content-type': 'text/plain' },
    ]) {
      const body = JSON.stringify({ token: boss.secret });
      const response = await scene().ask({ method: 'POST', path: '/v1/session', headers, body });
      expect(response.status).toBeGreaterThanOrEqual(400);
      expect(response.headers).not.toHaveProperty('set-cookie');
    }
  });
});

describe('the list of keys', () => {
  it('shows when each was last used, also after a use by a session', async () => {
    const [never, used, signedIn] = [
      await aKey({ kind: 'agent', name: 'never' }),
      await aKey({ kind: 'agent', name: 'used' }),
      await aKey({ kind: 'agent', name: 'signed-in' }),
    ];
    await get('/v1/tools', used.headers);
    await get('/v1/tools', await signIn(signedIn.secret));
    const { keys } = (await scene().asOperator('GET', '/v1/keys')).json as {
      keys: { key_id: string; last_used_at: string | null }[];
    };
    const lastUse = ({ id }: MintedKey): string | null | undefined =>
      keys.find(({ key_id }) => key_id === id)?.last_used_at;
    expect(lastUse(never)).toBeNull();
    for (const key of [used, signedIn]) expect(Date.parse(lastUse(key) ?? '')).toBeGreaterThan(0);
  });
});
