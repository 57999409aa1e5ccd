import { once } from 'node:events';
import { statSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SCOPES } from '../../src/core/access/scopes.ts';
import { aServerTool } from '../support/an-engine.ts';
import {
  aDataFolder,
  aPlatform,
  platformsOfTests,
  recordOf,
  type MintedKey,
  type TestPlatform,
} from './support/a-platform.ts';
import { open, textOf } from './support/ask.ts';
import { deleteTool, echoTool } from './support/scene.ts';
import { closedAfterEach } from '../support/after-each.ts';

const closeLater = closedAfterEach();

const aServer = platformsOfTests(closeLater, { tools: [echoTool, deleteTool] });

describe('a key', () => {
  it('has a prefix, 256 random bits and a checksum, is shown once, and is in no file', async () => {
    const folder = aDataFolder();
    closeLater(() => folder.remove());
    const server = await aPlatform({ folder });
    const minted = await Promise.all(
      Array.from({ length: 20 }, (_, index) => server.mint({ kind: 'agent', name: `a${index}` })),
    );
    expect(new Set(minted.map(({ secret }) => secret)).size).toBe(20);
    for (const { secret, headers } of minted) {
      expect(secret).toMatch(/^pb_[A-Za-z0-9_-]{43}[0-9a-f]{6}$/);
      expect((await server.ask({ method: 'GET', path: '/v1/tools', headers })).status).toBe(200);
    }
    const list = await server.asOperator('GET', '/v1/keys');
    const ledger = await server.asOperator('GET', '/v1/ledger/export');
    await server.asOperator('DELETE', `/v1/keys/${minted[0]!.id}`);
    const shown = [list.text, ledger.text, server.log()].join('\n');
    for (const { secret } of minted) {
      expect(shown).not.toContain(secret.slice(0, 20));
      expect(folder.filesWith(secret.slice(0, 20))).toEqual([]);
    }
    await server.close();
    for (const { secret } of minted) expect(folder.filesWith(secret.slice(0, 20))).toEqual([]);
  });

  it('works after a restart, and not once it was revoked before it', async () => {
    const folder = aDataFolder();
    closeLater(() => folder.remove());
    const first = await aPlatform({ folder });
    const kept = await first.mint({ kind: 'agent', name: 'kept' });
    const revoked = await first.mint({ kind: 'agent', name: 'revoked' });
    await first.asOperator('DELETE', `/v1/keys/${revoked.id}`);
    await first.close();
    const second = await aServer({ folder });
    const status = async ({ headers }: MintedKey): Promise<number> =>
      (await second.ask({ method: 'GET', path: '/v1/tools', headers })).status;
    expect(await status(kept)).toBe(200);
    expect(await status(revoked)).toBe(401);
  });

  it('is not made for a time that is over, nor for one more than ten years ahead', async () => {
    const server = await aServer();
    const before = await recordOf(server.store);
    const past = ['2020-01-01T00:00:00Z', 'expires_at is in the past'];
    const far = ['9999-12-31T23:59:59Z', '2100-01-01', String(Date.now()).slice(0, 12)];
    for (const [expires_at, detail] of [
      past,
      ...far.map((at) => [at, 'expires_at must be at most ten years ahead']),
    ]) {
      const response = await server.asOperator('POST', '/v1/keys', { kind: 'agent', name: 'a', expires_at });
      expect([response.status, response.json.detail]).toEqual([400, detail]);
    }
    expect(await recordOf(server.store)).toEqual(before);
  });

  it.each([
    ['more scopes', { kind: 'agent', name: 'minter', scopes: ['tools:call', 'policy:write'] }],
    ['another tenant', { kind: 'agent', name: 'minter', tenant_id: 'other', scopes: ['tools:call'] }],
    ["another agent's name", { kind: 'agent', name: 'victim', scopes: ['calls:read'] }],
    ['a kind that sees more', { kind: 'operator', name: 'minter', scopes: ['calls:read'] }],
    ['a service, which sees the whole tenant', { kind: 'service', name: 'minter', scopes: ['calls:read'] }],
  ])('is never wider than its maker: %s', async (_what, body) => {
    const server = await aServer();
    const scopes = ['tools:call', 'calls:read', 'keys:write'];
    const maker = await server.mint({ kind: 'agent', name: 'minter', scopes });
    const before = await recordOf(server.store);
    const ask = (wanted: unknown): ReturnType<TestPlatform['ask']> =>
      server.ask({ method: 'POST', path: '/v1/keys', headers: maker.headers, body: wanted });
    const response = await ask(body);
    expect([response.status, response.json.code]).toEqual([403, 'permission_denied']);
    expect(await recordOf(server.store)).toEqual(before);
    expect((await ask({ kind: 'agent', name: 'minter', scopes: ['calls:read'] })).status).toBe(201);
  });

  it('cannot create a key with a later expiry', async () => {
    const server = await aServer();
    const ends = new Date(Date.now() + 3_600_000).toISOString();
    const later = new Date(Date.now() + 7_200_000).toISOString();
    const made = await server.asOperator('POST', '/v1/keys', {
      kind: 'operator',
      name: 'olga',
      expires_at: ends,
    });
    const headers = { authorization: `Bearer ${made.json.key as string}` };
    const ask = async (expires: string | null): Promise<number> =>
      (
        await server.ask({
          method: 'POST',
          path: '/v1/keys',
          headers,
          body: { kind: 'agent', name: 'a', expires_at: expires },
        })
      ).status;
    expect(await ask(null)).toBe(403);
    expect(await ask(later)).toBe(403);
    expect(await ask(ends)).toBe(201);
  });
});

/** What a credential holds open: resolves when the server ends it. */
interface Held {
  readonly what: string;
  readonly ended: Promise<string>;
  isEnded: boolean;
}

function held(what: string, response: Promise<IncomingMessage>): Held {
  const holding: Held = { what, isEnded: false, ended: response.then(textOf) };
  holding.ended.then(
    () => (holding.isEnded = true),
    () => (holding.isEnded = true),
  );
  return holding;
}

async function holdEverything(
  server: TestPlatform,
  headers: Readonly<Record<string, string>>,
  given: { client: string; callId: string },
): Promise<Held[]> {
  const get = async (path: string, more = {}): Promise<IncomingMessage> =>
    await open(server.port, { method: 'GET', path, headers: { ...headers, ...more } });
  const streams = await Promise.all([
    get('/v1/events'),
    get(`/v1/tool_calls/${given.callId}/events`),
    get(`/internal/clients/${given.client}/requests`),
  ]);
  const [events, callEvents, ingress] = streams;
  return [
    held('all events', Promise.resolve(events)),
    held('events of a call', Promise.resolve(callEvents)),
    held('ingress', Promise.resolve(ingress)),
    held('long poll of a call', get(`/v1/tool_calls/${given.callId}`, { prefer: 'wait=60' })),
    held('long poll of a client', get(`/internal/clients/${given.client}/requests?wait=60`)),
  ];
}

async function aWaitingCall(
  server: TestPlatform,
  headers: Readonly<Record<string, string>>,
): Promise<string> {
  const response = await server.ask({
    method: 'POST',
    path: '/v1/tools/toy.delete/invoke',
    headers,
    body: { run_id: 'run_held', args: {} },
  });
  return response.json.tool_call_id as string;
}

describe('open streams of a credential', () => {
  it('ends when the key is revoked, all of it, and nothing of any other key', async () => {
    const server = await aServer();
    const wanted = { kind: 'operator', name: 'olga' } as const;
    const [first, second] = [await server.mint(wanted), await server.mint(wanted)];
    const callId = await aWaitingCall(server, first.headers);
    const doomed = await holdEverything(server, first.headers, { client: 'olga', callId });
    const spared = await holdEverything(server, second.headers, { client: 'olga', callId });
    expect(doomed.some(({ isEnded }) => isEnded)).toBe(false);
    await server.asOperator('DELETE', `/v1/keys/${first.id}`);
    // Nothing else would end them within the test's time: the polls alone ask for a minute.
    await Promise.all(doomed.map(({ ended }) => ended));
    expect(spared.filter(({ isEnded }) => isEnded).map(({ what }) => what)).toEqual([]);
    await server.asOperator('DELETE', `/v1/keys/${second.id}`);
    await Promise.all(spared.map(({ ended }) => ended));
  });

  it('ends with the logout of the session', async () => {
    const server = await aServer();
    const opened = await server.ask({
      method: 'POST',
      path: '/v1/session',
      body: { token: server.operatorToken },
    });
    const cookie = opened.headers['set-cookie']![0]!.split(';')[0]!;
    const callId = await aWaitingCall(server, { 'x-agent-id': 'ada' });
    const signedIn = { cookie, 'x-session-proof': opened.json.proof as string };
    const doomed = await holdEverything(server, signedIn, { client: 'c1', callId });
    await server.ask({ method: 'DELETE', path: '/v1/session', headers: { cookie } });
    await Promise.all(doomed.map(({ ended }) => ended));
  });

  it('ends with local mode, when the first key is made', async () => {
    const server = await aServer();
    const callId = await aWaitingCall(server, {});
    const doomed = await holdEverything(server, {}, { client: 'c1', callId });
    await server.mint({ kind: 'agent', name: 'first' });
    await Promise.all(doomed.map(({ ended }) => ended));
  });

  it('ends when the key expires', async () => {
    const server = await aServer();
    const made = await server.asOperator('POST', '/v1/keys', {
      kind: 'operator',
      name: 'olga',
      expires_at: new Date(Date.now() + 1500).toISOString(),
    });
    const headers = { authorization: `Bearer ${made.json.key as string}` };
    const stream = held('events', open(server.port, { method: 'GET', path: '/v1/events', headers }));
    await stream.ended;
    expect((await server.ask({ method: 'GET', path: '/v1/tools', headers })).status).toBe(401);
  });
});

describe('a credential that ends while the body is on its way', () => {
  /** A request whose body stays unfinished until `finish`. */
  async function half(
    server: TestPlatform,
    headers: readonly string[],
    line = 'POST /v1/tools/toy.echo/invoke',
  ): Promise<{ socket: Socket }> {
    const socket = connect(server.port, '127.0.0.1');
    await once(socket, 'connect');
    const body = '{"run_id":"late","args":{}}';
    socket.write(
      [
        `${line} HTTP/1.1`,
        `Host: 127.0.0.1:${server.port}`,
        'Content-Type: application/json',
        `Content-Length: ${body.length}`,
        'Connection: close',
        'Expect: 100-continue',
        ...headers,
        '',
        '',
      ].join('\r\n'),
    );
    // The response to `Expect` says that the head was read, and its credential with it.
    await once(socket, 'data');
    socket.write(body.slice(0, 5));
    return { socket };
  }

  async function finish(socket: Socket): Promise<string> {
    const parts: Buffer[] = [];
    socket.on('data', (part: Buffer) => parts.push(part));
    const closed = once(socket, 'close');
    socket.write('{"run_id":"late","args":{}}'.slice(5));
    await closed;
    return Buffer.concat(parts).toString();
  }

  it('opens nothing: a key that is revoked', async () => {
    const server = await aServer();
    const key = await server.mint({ kind: 'agent', name: 'ada' });
    await server.mint({ kind: 'agent', name: 'other' });
    const { socket } = await half(server, [`Authorization: ${key.headers.authorization}`]);
    await server.asOperator('DELETE', `/v1/keys/${key.id}`);
    const before = await recordOf(server.store);
    expect(await finish(socket)).toMatch(/^HTTP\/1\.1 401 /);
    expect(await recordOf(server.store)).toEqual(before);
  });

  it('opens nothing: a revoked key, on a route that takes no body', async () => {
    const server = await aServer();
    const key = await server.mint({ kind: 'operator', name: 'olga' });
    const { id } = await server.mint({ kind: 'agent', name: 'other' });
    const line = `DELETE /v1/keys/${id}`;
    const { socket } = await half(server, [`Authorization: ${key.headers.authorization}`], line);
    await server.asOperator('DELETE', `/v1/keys/${key.id}`);
    const before = await recordOf(server.store);
    expect(await finish(socket)).toMatch(/^HTTP\/1\.1 401 /);
    expect(await recordOf(server.store)).toEqual(before);
  });

  it('opens nothing: local mode', async () => {
    const server = await aServer();
    const { socket } = await half(server, []);
    await server.mint({ kind: 'agent', name: 'first' });
    const before = await recordOf(server.store);
    expect(await finish(socket)).toMatch(/^HTTP\/1\.1 401 /);
    expect(await recordOf(server.store)).toEqual(before);
  });
});

describe('local mode', () => {
  const anyone = async (server: TestPlatform, headers = {}): Promise<number> =>
    (await server.ask({ method: 'GET', path: '/v1/tools', headers })).status;

  it('is on at loopback with nothing configured', async () => {
    const server = await aServer();
    expect(server.platform.isLocal).toBe(true);
    expect(await anyone(server)).toBe(200);
  });

  it('goes with the first key', async () => {
    const server = await aServer();
    await server.mint({ kind: 'agent', name: 'first' });
    expect(await anyone(server)).toBe(401);
  });

  it('is off with a token issuer', async () => {
    const server = await aServer({
      config: { auth: { jwt: { issuer: 'i', audience: 'a', secret_env: 'JWT_SECRET' } } },
      environment: { JWT_SECRET: 's'.repeat(32) },
    });
    expect(server.platform.isLocal).toBe(false);
    expect(await anyone(server)).toBe(401);
  });

  it('is off in production', async () => {
    const server = await aServer({ environment: { NODE_ENV: 'production' } });
    expect(server.platform.isLocal).toBe(false);
    expect(await anyone(server)).toBe(401);
  });

  it('is off behind a proxy that is trusted', async () => {
    const server = await aServer({ config: { http: { trust_proxy: true } } });
    expect(await anyone(server)).toBe(401);
  });

  it.each(['x-forwarded-for', 'x-forwarded-proto', 'x-forwarded-anything', 'forwarded'])(
    'is off for a request with %s',
    async (header) => {
      const server = await aServer();
      expect(await anyone(server, { [header]: '10.0.0.1' })).toBe(401);
      expect(await anyone(server)).toBe(200);
    },
  );

  it.each(['0.0.0.0', '::'])(
    'does not start on %s without a credential, and says what to do',
    async (host) => {
      await expect(aPlatform({ host })).rejects.toThrow(/not a loopback address.*patchboard keys create/s);
    },
  );

  it('starts on 0.0.0.0 once a key exists, and refuses requests without one', async () => {
    const folder = aDataFolder();
    closeLater(() => folder.remove());
    const first = await aPlatform({ folder });
    const key = await first.mint({ kind: 'agent', name: 'a' });
    await first.close();
    const server = await aServer({ folder, host: '0.0.0.0' });
    expect(await anyone(server)).toBe(401);
    expect(await anyone(server, key.headers)).toBe(200);
  });
});

describe('the data folder', () => {
  it("is its owner's alone, and so is every file in it", async () => {
    const server = await aServer();
    const mode = (file: string): string => (statSync(file).mode & 0o777).toString(8);
    expect(mode(server.folder.path)).toBe('700');
    expect(mode(join(server.folder.path, 'operator.token'))).toBe('600');
    expect(mode(server.folder.storeFile)).toBe('600');
  });

  it('keeps its operator token over restarts', async () => {
    const folder = aDataFolder();
    closeLater(() => folder.remove());
    const first = await aPlatform({ folder });
    const { operatorToken } = first;
    await first.close();
    const second = await aServer({ folder });
    expect(second.operatorToken).toBe(operatorToken);
    expect(operatorToken).toMatch(/^op_[A-Za-z0-9_-]{43}$/);
    expect(second.log()).not.toContain(operatorToken);
  });
});

describe('a session', () => {
  async function openWith(server: TestPlatform, token: string): Promise<ReturnType<TestPlatform['ask']>> {
    return await server.ask({ method: 'POST', path: '/v1/session', body: { token } });
  }

  it('is opened by the operator token again and again, by a login token once', async () => {
    const server = await aServer();
    const token = server.platform.loginToken();
    expect((await openWith(server, token)).status).toBe(200);
    const again = await openWith(server, token);
    expect([again.status, again.json.code]).toEqual([401, 'auth_required']);
    expect(again.headers).not.toHaveProperty('set-cookie');
    expect((await openWith(server, server.operatorToken)).status).toBe(200);
    expect((await openWith(server, server.operatorToken)).status).toBe(200);
  });

  it('is opened by a link, which only the operator token makes', async () => {
    const server = await aServer();
    const boss = await server.mint({ kind: 'operator', name: 'boss' });
    const make = (headers: Record<string, string>): ReturnType<TestPlatform['ask']> =>
      server.ask({ method: 'POST', path: '/v1/session/link', headers });
    const link = await make({ authorization: `Bearer ${server.operatorToken}` });
    expect([link.status, link.json.expires_in_s]).toEqual([200, 3600]);
    expect(link.headers['cache-control']).toBe('no-store');
    const [, token = ''] = /^\/#login=(ot_[\w-]{32})$/.exec(link.json.url_path as string) ?? [];
    const opened = await openWith(server, token);
    expect(opened.status).toBe(200);
    expect((await openWith(server, token)).status).toBe(401);
    const cookie = opened.headers['set-cookie']![0]!.split(';')[0]!;
    const session = { cookie, 'x-session-proof': opened.json.proof as string };
    for (const headers of [boss.headers, session]) {
      const refused = await make(headers);
      expect([refused.status, refused.json.code]).toEqual([403, 'permission_denied']);
    }
    expect((await make({})).status).toBe(401);
  });

  it('is opened once by fifty at once with one login token', async () => {
    const server = await aServer();
    const token = server.platform.loginToken();
    const responses = await Promise.all(Array.from({ length: 50 }, () => openWith(server, token)));
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(1);
  });

  it('is a cookie that only our own pages send and no script reads, and it is an operator', async () => {
    const server = await aServer();
    await server.mint({ kind: 'agent', name: 'ends-local-mode' });
    const { headers, json } = await openWith(server, server.operatorToken);
    const [cookie] = headers['set-cookie']!;
    expect(cookie).toMatch(/^patchboard_session=[\w-]{43}; /);
    expect(cookie!.split('; ').slice(1).sort()).toEqual([
      'HttpOnly',
      'Max-Age=43200',
      'Path=/',
      'SameSite=Strict',
    ]);
    const alone = { cookie: cookie!.split(';')[0]! };
    const sent = { ...alone, 'x-session-proof': json.proof as string };
    const keys = async (more = {}): Promise<number> =>
      (await server.ask({ method: 'GET', path: '/v1/keys', headers: { ...sent, ...more } })).status;
    const own = `http://127.0.0.1:${server.port}`;
    expect(await keys({ origin: own, 'sec-fetch-site': 'same-origin' })).toBe(200);
    // The cookie is sent to every port of the host, so it must not be enough by itself.
    expect((await server.ask({ method: 'GET', path: '/v1/keys', headers: alone })).status).toBe(401);
    expect(await keys({ 'x-session-proof': 'x'.repeat(43) })).toBe(401);
    expect(await keys({ origin: `http://127.0.0.1:1` })).toBe(403);
    expect(await keys({ 'sec-fetch-site': 'same-site' })).toBe(403);
    const out = await server.ask({ method: 'DELETE', path: '/v1/session', headers: sent });
    expect(out.headers['set-cookie']![0]).toContain('Max-Age=0');
    expect(await keys()).toBe(401);
  });

  it('is not opened by a revoked key, and a session id is no bearer token', async () => {
    const server = await aServer();
    const key = await server.mint({ kind: 'operator', name: 'olga', scopes: SCOPES });
    await server.asOperator('DELETE', `/v1/keys/${key.id}`);
    expect((await openWith(server, key.secret)).status).toBe(401);
    const { headers } = await openWith(server, server.operatorToken);
    const id = /=([\w-]+);/.exec(headers['set-cookie']![0]!)![1]!;
    const response = await server.ask({
      method: 'GET',
      path: '/v1/keys',
      headers: { authorization: `Bearer ${id}` },
    });
    expect(response.status).toBe(401);
  });
});

describe('a tool', () => {
  it('gets none of the credential it was called with', async () => {
    const seen: unknown[] = [];
    const spy = aServerTool({
      name: 'toy.spy',
      execute: (args, context) => {
        seen.push(args, { ...context });
        return Promise.resolve('ok');
      },
    });
    const server = await aServer({ tools: [spy] });
    const key = await server.mint({ kind: 'agent', name: 'ada' });
    await server.ask({
      method: 'POST',
      path: '/v1/tools/toy.spy/invoke',
      headers: { ...key.headers, prefer: 'wait=10' },
      body: { run_id: 'r', args: {} },
    });
    expect(seen).toHaveLength(2);
    expect(JSON.stringify(seen)).not.toContain(key.secret.slice(3, 20));
  });
});
