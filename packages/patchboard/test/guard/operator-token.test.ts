import { describe, expect, it } from 'vitest';
import { StorageFull } from '../../src/core/failures.ts';
import { OperatorTokenGuard } from '../../src/identity/operator-token-guard.ts';
import { nodeDigest } from '../../src/runtime/digest.ts';
import { memoryStore } from '../../src/store/memory/memory-store.ts';
import { ROUTES } from '../../src/wiring/apis.ts';
import { closedAfterEach } from '../support/after-each.ts';
import { silentLog } from '../support/an-engine.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { aPlatform, type TestPlatform } from './support/a-platform.ts';
import { codeIn, type TestResponse } from './support/ask.ts';

const closeLater = closedAfterEach();
const WRONG = `op_${'w'.repeat(43)}`;

interface RefusedRow {
  readonly kind: string;
  readonly body: { readonly address: string; readonly unrecorded?: number };
}

async function rowsOf(server: TestPlatform): Promise<readonly RefusedRow['body'][]> {
  const { json } = await server.asOperator('GET', '/v1/ledger?limit=200');
  const rows = (json as { rows: RefusedRow[] }).rows.filter(({ kind }) => kind === 'operator_token.refused');
  return rows.map(({ body }) => body);
}

describe('a wrong operator token', () => {
  it('is throttled on every route and at the login, leaves few rows, and the right one gets in', async () => {
    const server = await aPlatform();
    closeLater(() => server.close());
    const authorization = `Bearer ${WRONG}`;
    const guarded = ROUTES.filter(({ scope, url }) => scope !== null && !url.includes('*'));
    const responses: TestResponse[] = [];
    for (const { method, url } of guarded) {
      const path = url.replaceAll(/:\w+/g, 'x');
      responses.push(await server.ask({ method, path, headers: { authorization } }));
    }
    const login = { method: 'POST', path: '/v1/session', body: { token: WRONG } };
    responses.push(await server.ask(login));

    const seen = responses.map((response) => `${response.status} ${codeIn(response)}`);
    // A machine that is slow gives a try back now and then.
    const taken = seen.filter((response) => response === '401 auth_required').length;
    expect(seen.slice(0, 10)).toEqual(Array(10).fill('401 auth_required'));
    expect(new Set(seen.slice(10))).toContain('429 rate_limited');
    expect(new Set(seen).size).toBe(2);
    const throttled = responses.find(({ status }) => status === 429);
    expect(Number(throttled?.headers['retry-after'])).toBeGreaterThan(0);
    expect(throttled?.headers['ratelimit-policy']).toMatch(/^"address";q=10;/);

    expect((await server.asOperator('GET', '/v1/keys')).status).toBe(200);
    const right = await server.ask({ ...login, body: { token: server.operatorToken } });
    expect(right.status).toBe(200);
    const rows = await rowsOf(server);
    expect(rows.slice(0, 10)).toEqual(Array(10).fill({ address: '127.0.0.1' }));
    expect(rows).toHaveLength(taken);
    expect(server.log().match(/operator_token\.refused/g)).toHaveLength(taken);
    expect(server.log()).not.toContain(WRONG);
  });

  it('is limited per address: guesses from one do not affect another', async () => {
    const server = await aPlatform({ config: { http: { trust_proxy: true } } });
    closeLater(() => server.close());
    const statusFrom = async (address: string): Promise<number> => {
      const headers = { authorization: `Bearer ${WRONG}`, 'x-forwarded-for': `10.0.0.1, ${address}` };
      return (await server.ask({ method: 'GET', path: '/v1/keys', headers })).status;
    };
    let status = 401;
    while (status === 401) status = await statusFrom('203.0.113.7');
    expect(status).toBe(429);
    expect(await statusFrom('203.0.113.8')).toBe(401);
    const rows = await rowsOf(server);
    expect(rows.length).toBeGreaterThan(10);
    expect(rows.at(-1)).toEqual({ address: '203.0.113.8', unrecorded: 1 });
  });
});

describe('rows of wrong operator tokens', () => {
  it('are bounded for all addresses together, and the next row counts the omitted ones', async () => {
    const clock = new FakeClock();
    const store = memoryStore({ digest: nodeDigest });
    const guard = new OperatorTokenGuard({ tokens: ['op_right'], clock, store, log: silentLog });
    for (let index = 0; index < 5000; index += 1) await guard.refuse(`10.0.${index >> 8}.${index & 255}`);
    expect((await store.ledgerHead()).seq).toBe(100);
    await clock.advance(1000);
    await guard.refuse('192.0.2.1');
    const [last] = await store.readLedger({}, 100, 10);
    expect(JSON.parse(last?.row.body ?? '{}')).toEqual({ address: '192.0.2.1', unrecorded: 4900 });
  });

  it('are written when the disk has space again, and the token stays refused meanwhile', async () => {
    const store = memoryStore({ digest: nodeDigest });
    const append = store.append.bind(store);
    store.append = () => Promise.reject(new StorageFull());
    const guard = new OperatorTokenGuard({
      tokens: ['op_right'],
      clock: new FakeClock(),
      store,
      log: silentLog,
    });
    expect(await guard.refuse('192.0.2.1')).toMatchObject({ code: 'auth_required' });
    store.append = append;
    await guard.refuse('192.0.2.1');
    const [row] = await store.readLedger({}, 0, 10);
    expect(JSON.parse(row?.row.body ?? '{}')).toEqual({ address: '192.0.2.1', unrecorded: 1 });
  });
});
