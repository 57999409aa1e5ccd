import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { aPrincipal, silentLog } from '../../../test/support/an-engine.ts';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import { nodeDigest } from '../../runtime/digest.ts';
import { timeOrderedIds } from '../../runtime/ids.ts';
import { memoryStore } from '../../store/memory/memory-store.ts';
import { KeyService } from './key-service.ts';
import { checkKeyRequest, type KeyKind } from './key-index.ts';
import type { Principal } from './principal.ts';
import { SCOPES, type Scope } from './scopes.ts';
import { maySeeCall } from '../call/visibility.ts';

const KINDS: readonly KeyKind[] = ['agent', 'client', 'service', 'operator'];

function aKeyService(clock = new FakeClock()): { service: KeyService; clock: FakeClock } {
  const store = memoryStore({ digest: nodeDigest });
  return {
    service: new KeyService({ store, clock, ids: timeOrderedIds(clock), digest: nodeDigest, log: silentLog }),
    clock,
  };
}

const scopes = fc.subarray<Scope>([...SCOPES]);
const tenant = fc.constantFrom('default', 'other');
const name = fc.constantFrom('ada', 'bob');
const expiresAt = fc.constantFrom(null, 1_700_000_100_000, 1_700_000_200_000);
const makers = fc.record({ kind: fc.constantFrom(...KINDS), scopes, tenant, name, expiresAt });
const requests = fc.record({
  kind: fc.constantFrom(...KINDS),
  scopes: fc.option(scopes),
  tenant,
  name,
  expiresAt,
});

/** Every possible call between these names, and the principals that see it. */
function seen(principal: Principal): string[] {
  const calls = ['default', 'other'].flatMap((of) =>
    ['ada', 'bob'].flatMap((agentId) =>
      [null, 'ada', 'bob'].map((clientId) => ({ tenant: of, agentId, clientId })),
    ),
  );
  return calls.filter((call) => maySeeCall(principal, call)).map((call) => JSON.stringify(call));
}

describe('a minted key', () => {
  it('never exceeds its maker in scopes, tenant, visibility or lifetime', async () => {
    let minted = 0;
    await fc.assert(
      fc.asyncProperty(makers, requests, async (given, request) => {
        const { service, clock } = aKeyService();
        const maker = aPrincipal({
          kind: given.kind,
          id: given.name,
          agentId: given.name,
          clientId: given.name,
          tenant: given.tenant,
          scopes: new Set(given.scopes),
          credential: { id: 'key_maker', expiresAt: given.expiresAt },
        });
        const made = await service.mint(maker, request);
        if ('code' in made) {
          expect(made.code).toBe('permission_denied');
          expect(service.index.size).toBe(0);
          return;
        }
        minted += 1;
        const principal = service.authenticate(made.secret);
        if ('code' in principal) throw new Error(principal.message);
        expect(principal.tenant).toBe(maker.tenant);
        expect([...principal.scopes].filter((scope) => !maker.scopes.has(scope))).toEqual([]);
        expect(seen(principal).filter((call) => !seen(maker).includes(call))).toEqual([]);
        const end = given.expiresAt ?? Infinity;
        expect(principal.credential?.expiresAt ?? Infinity).toBeLessThanOrEqual(end);
        await clock.advance(300_000);
        if (request.expiresAt !== null)
          expect(service.authenticate(made.secret)).toMatchObject({ code: 'auth_required' });
      }),
      { numRuns: 2000 },
    );
    expect(minted).toBeGreaterThan(50);
  });

  it('may outlive the session or the token of the person who makes it', () => {
    for (const id of ['session:abc', 'jwt:olga', 'operator-token']) {
      const maker = aPrincipal({
        kind: 'operator',
        scopes: new Set(SCOPES),
        credential: { id, expiresAt: 1_700_000_000_000 },
      });
      const request = { tenant: 'default', kind: 'agent', name: 'a', scopes: null, expiresAt: null } as const;
      expect(checkKeyRequest(maker, request)).toBeNull();
    }
  });
});

describe('KeyService', () => {
  const maker = aPrincipal({ kind: 'operator', id: 'olga', scopes: new Set(SCOPES) });
  const request = { tenant: 'default', kind: 'agent', name: 'ada', scopes: null, expiresAt: null } as const;

  it('rejects mistyped and unknown keys with different reasons', async () => {
    const { service } = aKeyService();
    const made = await service.mint(maker, request);
    if ('code' in made) throw new Error(made.message);
    const { secret } = made;
    fc.assert(
      fc.property(fc.nat(secret.length - 1), fc.constantFrom('A', 'b', '0', '_'), (index, letter) => {
        const changed = secret.slice(0, index) + letter + secret.slice(index + 1);
        if (changed !== secret) expect(service.authenticate(changed)).toHaveProperty('code', 'auth_required');
      }),
    );
    for (const text of ['', 'pb_', secret.slice(0, -1), `${secret}0`, secret.toUpperCase()]) {
      expect(service.authenticate(text)).toMatchObject({ code: 'auth_required' });
    }
    expect(aKeyService().service.authenticate(secret)).toMatchObject({
      message: 'no key has this secret: it was revoked, or another server made it',
    });
  });

  it('rejects a key from the moment it is revoked, also while the store is slow', async () => {
    const { service } = aKeyService();
    const made = await service.mint(maker, request);
    if ('code' in made) throw new Error(made.message);
    const told: string[] = [];
    service.index.onRevoked((id) => told.push(id));
    const revoking = service.revoke(maker, made.key.id);
    expect(service.authenticate(made.secret)).toMatchObject({ code: 'auth_required' });
    expect(service.isInForce(made.key.id)).toBe(false);
    expect(told).toEqual([made.key.id]);
    await revoking;
  });

  it('does not let another tenant revoke a key', async () => {
    const { service } = aKeyService();
    const made = await service.mint(maker, request);
    if ('code' in made) throw new Error(made.message);
    expect(await service.revoke({ ...maker, tenant: 'other' }, made.key.id)).toEqual(
      await service.revoke({ ...maker, tenant: 'other' }, made.key.id),
    );
    expect(service.isInForce(made.key.id)).toBe(true);
  });

  it('lets only a credential that could mint the key, or the key itself, revoke it', async () => {
    const outcomes = { revoked: 0, refused: 0 };
    await fc.assert(
      fc.asyncProperty(makers, requests, async (given, target) => {
        const { service } = aKeyService();
        const ofTenant = { ...maker, tenant: given.tenant };
        const made = await service.mint(ofTenant, { ...target, tenant: given.tenant });
        if ('code' in made) throw new Error(made.message);
        const { id, kind, name: keyName, scopes: held, expiresAt: end } = made.key;
        const revoker = aPrincipal({
          kind: given.kind,
          id: given.name,
          tenant: given.tenant,
          scopes: new Set(given.scopes),
          credential: { id: 'key_revoker', expiresAt: given.expiresAt },
        });
        const same = { tenant: given.tenant, kind, name: keyName, scopes: held, expiresAt: end };
        const mayMint = checkKeyRequest(revoker, same) === null;
        const revoked = await service.revoke(revoker, id);
        outcomes[mayMint ? 'revoked' : 'refused'] += 1;
        expect(service.isInForce(id)).toBe(!mayMint);
        if (mayMint) return;
        expect(revoked).toMatchObject({ code: 'permission_denied' });
        const itself = { ...revoker, credential: { id, expiresAt: end } };
        expect(await service.revoke(itself, id)).toMatchObject({ id });
      }),
      { numRuns: 1000 },
    );
    expect(Math.min(...Object.values(outcomes))).toBeGreaterThan(50);
  });

  it('mints no key under the name of the operator token', async () => {
    const { service } = aKeyService();
    expect(await service.mint(maker, { ...request, name: 'operator' })).toMatchObject({ code: 'name_taken' });
    expect(service.index.size).toBe(0);
  });

  it('ends local mode with the first key, until an operator allows it again when no key is left', async () => {
    const clock = new FakeClock();
    const store = memoryStore({ digest: nodeDigest });
    const load = async (): Promise<KeyService> => {
      const service = new KeyService({
        store,
        clock,
        ids: timeOrderedIds(clock),
        digest: nodeDigest,
        log: silentLog,
      });
      await service.load();
      return service;
    };
    const service = await load();
    expect([service.localModeEnded, await service.allowLocalMode(maker)]).toEqual([
      false,
      { changed: false },
    ]);
    const made = await service.mint(maker, request);
    if ('code' in made) throw new Error(made.message);
    expect(await service.allowLocalMode(maker)).toMatchObject({ code: 'conflict' });
    await service.revoke(maker, made.key.id);
    expect([service.localModeEnded, (await load()).localModeEnded]).toEqual([true, true]);
    expect(await service.allowLocalMode(maker)).toEqual({ changed: true });
    expect([service.localModeEnded, (await load()).localModeEnded]).toEqual([false, false]);
    const rows = await store.readLedger({}, 0, 10);
    expect(rows.map(({ row }) => row.kind)).toEqual(['key.created', 'key.revoked', 'local_mode.allowed']);
  });

  it('calls the onFirst listeners once, when the first key is added', async () => {
    const { service } = aKeyService();
    let first = 0;
    service.index.onFirst(() => (first += 1));
    await service.mint(maker, request);
    await service.mint(maker, request);
    expect(first).toBe(1);
  });
});
