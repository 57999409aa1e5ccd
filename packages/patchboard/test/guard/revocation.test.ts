import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { aDataFolder, aPlatform, recordOf, type MintedKey, type TestPlatform } from './support/a-platform.ts';
import type { TestResponse } from './support/ask.ts';

let server: TestPlatform;
beforeAll(async () => {
  server = await aPlatform();
});
afterAll(() => server.close());

async function revoke(by: MintedKey, id: string): Promise<TestResponse> {
  return await server.ask({ method: 'DELETE', path: `/v1/keys/${id}`, headers: by.headers });
}

describe('revoking a key', () => {
  it.each([
    [
      'an operator key with scopes it does not hold',
      { kind: 'operator', name: 'boss' },
      /your credential lacks .*policy:write/,
    ],
    [
      'a key of another agent',
      { kind: 'agent', name: 'ada', scopes: ['tools:call'] },
      /can make keys for \S+ only/,
    ],
    ['a service', { kind: 'service', name: 'minter', scopes: ['tools:call'] }, /can make keys for \S+ only/],
  ] as const)('is refused to a key that could not make it: %s', async (_what, wanted, reason) => {
    const scopes = ['tools:call', 'keys:write'];
    const narrow = await server.mint({ kind: 'agent', name: 'minter', scopes });
    const target = await server.mint(wanted);
    const before = await recordOf(server.store);
    const refused = await revoke(narrow, target.id);
    expect([refused.status, refused.json.code]).toEqual([403, 'permission_denied']);
    expect(refused.json.detail).toMatch(reason);
    expect(await recordOf(server.store)).toEqual(before);
    expect((await server.asOperator('DELETE', `/v1/keys/${target.id}`)).status).toBe(200);
  });

  it('is refused to a key that expires before the other', async () => {
    const made = await server.asOperator('POST', '/v1/keys', {
      kind: 'operator',
      name: 'guest',
      expires_at: new Date(Date.now() + 3_600_000).toISOString(),
    });
    const guest = { id: '', secret: '', headers: { authorization: `Bearer ${made.json.key as string}` } };
    const lasting = await server.mint({ kind: 'agent', name: 'ada' });
    const refused = await revoke(guest, lasting.id);
    expect([refused.status, refused.json.code]).toEqual([403, 'permission_denied']);
    expect(refused.json.detail).toContain('expires');
  });

  it('of itself is allowed to every key that may revoke at all', async () => {
    const narrow = await server.mint({ kind: 'agent', name: 'minter', scopes: ['keys:write'] });
    expect((await revoke(narrow, narrow.id)).status).toBe(200);
    expect((await revoke(narrow, narrow.id)).status).toBe(401);
  });

  it('of the last key does not bring local mode back, also after a restart', async () => {
    const folder = aDataFolder();
    onTestFinished(() => folder.remove());
    const first = await aPlatform({ folder });
    const anonymous = async (server: TestPlatform): Promise<number> =>
      (await server.ask({ method: 'GET', path: '/v1/tools' })).status;
    expect(await anonymous(first)).toBe(200);
    const only = await first.mint({ kind: 'agent', name: 'only', scopes: ['keys:write'] });
    expect(
      (await first.ask({ method: 'DELETE', path: `/v1/keys/${only.id}`, headers: only.headers })).status,
    ).toBe(200);
    expect(await anonymous(first)).toBe(401);
    expect((await first.asOperator('GET', '/v1/keys')).status).toBe(200);
    await first.close();
    const second = await aPlatform({ folder });
    expect([second.platform.isLocal, await anonymous(second)]).toEqual([false, 401]);
    expect((await second.asOperator('GET', '/v1/keys')).status).toBe(200);
    await second.close();
  });

  it('is allowed to a key that could make the other', async () => {
    const first = await server.mint({ kind: 'operator', name: 'first' });
    const second = await server.mint({ kind: 'operator', name: 'second' });
    expect((await revoke(first, second.id)).status).toBe(200);
  });
});
