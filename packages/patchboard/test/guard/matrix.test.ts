import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { SCOPES_OF_KIND } from '../../src/core/access/scopes.ts';
import { nodeDigest } from '../../src/runtime/digest.ts';
import type { Route } from '../../src/transports/shared/routes/routes.ts';
import { ROUTES } from '../../src/wiring/faces.ts';
import { aPlatform, recordOf, type TestPlatform } from './support/a-platform.ts';
import type { Answered } from './support/ask.ts';
import { requestTo, sampleOf, UNKNOWN, type Ids } from './support/route-samples.ts';
import { aScene, deleteTool, echoTool, type Scene } from './support/scene.ts';

// A busy machine takes its time to start servers.
vi.setConfig({ testTimeout: 30_000, hookTimeout: 30_000 });

type Expected = readonly [status: number, code: string | null];
type Headers = Readonly<Record<string, string>>;

let scene: Scene;
let local: TestPlatform;

beforeAll(async () => {
  [scene, local] = await Promise.all([aScene(), aPlatform({ tools: [echoTool, deleteTool] })]);
}, 30_000);
afterAll(async () => {
  await Promise.all([scene.close(), local.close()]);
});

/** Got past the guard and to the handler. */
const PAST = 'past';

/** What a request that is refused is answered: the same on every route, but for those that ask nobody's name. */
const needsCredential = (route: Route): Expected | typeof PAST =>
  route.scope === null ? PAST : [401, 'auth_required'];
const always =
  (...expected: Expected) =>
  (): Expected =>
    expected;
const takesBody = (route: Route): boolean => route.method !== 'GET';

interface Case {
  readonly name: string;
  readonly headers: (route: Route) => Headers;
  readonly expected: (route: Route) => Expected | typeof PAST;
  readonly body?: string;
}

/** Whoever asks, however good the credential. */
const AT_THE_DOOR: readonly Case[] = [
  { name: 'a foreign Host', headers: host('evil.example:80'), expected: always(421, 'misdirected') },
  {
    name: 'a Host that ends in ours',
    headers: host('evil.localhost:80'),
    expected: always(421, 'misdirected'),
  },
  { name: 'our Host at another port', headers: host('localhost:1'), expected: always(421, 'misdirected') },
  ...['https://evil.example', 'null', 'http://127.0.0.1:1', 'file://'].map((origin) => ({
    name: `Origin ${origin}`,
    headers: () => ({ ...scene.boss.headers, origin }),
    expected: always(403, 'permission_denied'),
  })),
  ...['cross-site', 'same-site'].map((site) => ({
    name: `Sec-Fetch-Site ${site}`,
    headers: () => ({ ...scene.boss.headers, 'sec-fetch-site': site }),
    expected: always(403, 'permission_denied'),
  })),
  ...['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=b'].map((type) => ({
    name: `a body of ${type}`,
    headers: () => ({ ...scene.boss.headers, 'content-type': type }),
    expected: (route: Route): Expected | typeof PAST => (takesBody(route) ? [415, 'content_type'] : PAST),
    body: '{"run_id":"run_a"}',
  })),
];

const BY_CREDENTIAL: readonly Case[] = [
  { name: 'no credential', headers: () => ({}), expected: needsCredential },
  // A wrong operator token is throttled: see `operator-token.test.ts`.
  ...['Bearer', 'Bearer pb_short', 'Bearer not.a.token', 'Basic Ym9zczpib3Nz'].map((authorization) => ({
    name: `the credential "${authorization}"`,
    headers: () => ({ authorization }),
    expected: needsCredential,
  })),
  { name: 'a key that nobody made', headers: () => bearer(unknownKey()), expected: needsCredential },
  { name: 'a key with one letter changed', headers: () => bearer(mistyped()), expected: needsCredential },
  { name: 'an expired key', headers: () => scene.expired, expected: needsCredential },
  { name: 'a revoked key', headers: () => scene.revoked.headers, expected: needsCredential },
  { name: 'a session that nobody opened', headers: () => cookie('A'.repeat(43)), expected: needsCredential },
  {
    name: 'a key without the scope',
    headers: (route) => (route.scope === null ? {} : scene.without.get(route.scope)!.headers),
    expected: (route) => (route.scope === null ? PAST : [403, 'permission_denied']),
  },
  ...['x-agent-id', 'x-client-id'].map((header) => ({
    name: `the operator token and ${header} of somebody else`,
    headers: () => ({ ...bearer(scene.operatorToken), [header]: 'other' }),
    expected: (route: Route): Expected | typeof PAST =>
      route.scope === null ? PAST : [403, 'permission_denied'],
  })),
  ...['x-tenant-id', 'x-agent-id', 'x-client-id'].map((header) => ({
    name: `a key and ${header} of somebody else`,
    headers: () => ({ ...scene.boss.headers, [header]: 'other' }),
    expected: (route: Route): Expected | typeof PAST =>
      route.scope === null ? PAST : [403, 'permission_denied'],
  })),
];

describe.each(ROUTES.map((route) => ({ at: `${route.method} ${route.url}`, route })))('$at', ({ route }) => {
  it.each([...AT_THE_DOOR, ...BY_CREDENTIAL])('with keys: $name', async (given) => {
    const expected = given.expected(route);
    const ids = expected === PAST ? { ...UNKNOWN, client: 'boss' } : realIds(route);
    await expectAnswer(scene, { route, ids, headers: given.headers(route), body: given.body, expected });
  });

  it('in local mode: no credential', async () => {
    const isOpen = route.scope === null || SCOPES_OF_KIND.local.includes(route.scope);
    const expected = isOpen ? PAST : ([403, 'permission_denied'] as const);
    await expectAnswer(local, { route, ids: UNKNOWN, headers: {}, expected });
  });

  it.each(['x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'forwarded'])(
    'in local mode: %s',
    async (header) => {
      const expected = needsCredential(route);
      await expectAnswer(local, { route, ids: UNKNOWN, headers: { [header]: '127.0.0.1' }, expected });
    },
  );

  if (route.method === 'GET' && route.isStream !== true) {
    it('HEAD is guarded alike', async () => {
      const { path } = requestTo(route, scene.ids);
      const answer = await scene.ask({ method: 'HEAD', path });
      expect(answer.status).toBe(route.scope === null ? 200 : 401);
      const foreign = await scene.ask({ method: 'HEAD', path, headers: { host: 'evil.example' } });
      expect(foreign.status).toBe(421);
    });
  }
});

describe('what is no route', () => {
  it.each(['/nope', '/ui/app.js', '/v1/tools/%zz', '//evil.example/v1/tools', '/..%2fetc/passwd'])(
    '%s is guarded by the door too',
    async (path) => {
      const ask = async (headers: Headers): Promise<number> =>
        (await scene.ask({ method: 'GET', path, headers })).status;
      expect(await ask({ host: 'evil.example' })).toBe(421);
      expect(await ask({ origin: 'https://evil.example' })).toBe(403);
      expect(await ask({ origin: 'null' })).toBe(403);
      expect(await ask({ 'sec-fetch-site': 'cross-site' })).toBe(403);
      expect([400, 404]).toContain(await ask({}));
    },
  );

  it.each(['OPTIONS', 'TRACE', 'PATCH'])('%s does nothing', async (method) => {
    const path = '/v1/tools/toy.echo/invoke';
    const before = await recordOf(scene.store);
    const answer = await scene.ask({ method, path, headers: scene.boss.headers });
    expect(answer.status).toBeGreaterThanOrEqual(400);
    expect(await recordOf(scene.store)).toEqual(before);
  });
});

interface Asking {
  readonly route: Route;
  readonly ids: Ids;
  readonly headers: Headers;
  readonly body?: string | undefined;
  readonly expected: Expected | typeof PAST;
}

async function expectAnswer(server: TestPlatform, given: Asking): Promise<void> {
  const { route, ids, expected } = given;
  const request = requestTo(route, ids);
  const headers = { ...request.headers, ...given.headers };
  const body = given.body ?? request.body;
  const before = await recordOf(server.store);
  const answer = await server.ask({ ...request, headers, ...(body === undefined ? {} : { body }) });
  expect(seen(answer)).toEqual(expected === PAST ? sampleOf(route).past : expected);
  if (expected === PAST) return;
  expect(await recordOf(server.store)).toEqual(before);
  expect(answer.headers).not.toHaveProperty('access-control-allow-origin');
  expect(answer.headers).not.toHaveProperty('set-cookie');
}

function seen({ status, json }: Answered): Expected {
  return [status, status >= 400 ? (json as { code: string }).code : null];
}

/** What the request would reach if it were not refused. */
function realIds(route: Route): Ids {
  return route.face === 'internal' ? { ...scene.ids, call: scene.clientCall } : scene.ids;
}

function host(name: string): () => Headers {
  return () => ({ ...scene.boss.headers, host: name });
}

function bearer(secret: string): Headers {
  return { authorization: `Bearer ${secret}` };
}

function cookie(id: string): Headers {
  return { cookie: `patchboard_session=${id}` };
}

/** Well formed: its checksum is right. */
function unknownKey(): string {
  const random = 'A'.repeat(43);
  return `pb_${random}${nodeDigest.sha256(random).slice(0, 6)}`;
}

function mistyped(): string {
  const { secret } = scene.boss;
  return `${secret.slice(0, 10)}${secret[10] === 'A' ? 'B' : 'A'}${secret.slice(11)}`;
}
