import { describe, expect, it } from 'vitest';
import { aPrincipal, silentLog } from '../../../test/support/an-engine.ts';
import { FakeClock, settled } from '../../../test/support/fake-clock.ts';
import { nodeDigest } from '../../runtime/digest.ts';
import { timeOrderedIds } from '../../runtime/ids.ts';
import { memoryStore } from '../../store/memory/memory-store.ts';
import type { Store } from '../ports.ts';
import { KeyService } from './key-service.ts';
import { SCOPES } from './scopes.ts';

const OPERATOR = aPrincipal({ kind: 'operator', scopes: new Set(SCOPES) });
const MINUTE_MS = 60_000;

interface Scene {
  readonly store: Store;
  readonly clock: FakeClock;
  readonly service: KeyService;
  readonly key: { readonly id: string; readonly secret: string };
  /** Number of writes to the store since the key was made. */
  readonly writes: () => number;
}

function aService(store: Store, clock: FakeClock): KeyService {
  return new KeyService({ store, clock, ids: timeOrderedIds(clock), digest: nodeDigest, log: silentLog });
}

async function aScene(): Promise<Scene> {
  const store: Store = memoryStore({ digest: nodeDigest });
  const clock = new FakeClock();
  let writes = 0;
  const put = store.putDocument.bind(store);
  store.putDocument = async (...given) => {
    writes += 1;
    await put(...given);
  };
  const service = aService(store, clock);
  const request = { tenant: 'default', kind: 'agent', name: 'bot', scopes: null, expiresAt: null } as const;
  const made = await service.mint(OPERATOR, request);
  if ('code' in made) throw new Error(made.message);
  writes = 0;
  return {
    store,
    clock,
    service,
    key: { id: made.key.id, secret: made.secret },
    writes: () => writes,
  };
}

describe('KeyUses', () => {
  it('writes the last use behind the request, once a minute at most, without a ledger row', async () => {
    const { store, clock, service, key, writes } = await aScene();
    const head = await store.ledgerHead();
    expect((await service.uses.read()).get(key.id)).toBeUndefined();
    const first = clock.now();
    for (let uses = 0; uses < 1000; uses += 1) service.authenticate(key.secret);
    expect(writes()).toBe(0);
    expect((await service.uses.read()).get(key.id)).toBe(first);
    await clock.advance(MINUTE_MS - 1);
    service.authenticate(key.secret);
    await settled();
    expect(writes()).toBe(1);
    await clock.advance(1);
    service.authenticate(key.secret);
    expect((await service.uses.read()).get(key.id)).toBe(first + MINUTE_MS);
    await clock.advance(MINUTE_MS);
    expect(writes()).toBe(2);
    expect(await store.ledgerHead()).toEqual(head);
    expect((await aService(store, clock).uses.read()).get(key.id)).toBe(first + MINUTE_MS);
  });

  it('writes the uses of many keys in one transaction, and what is left when the server closes', async () => {
    const { clock, service, writes } = await aScene();
    const request = { tenant: 'default', kind: 'agent', scopes: null, expiresAt: null } as const;
    for (const name of ['a', 'b', 'c']) {
      const made = await service.mint(OPERATOR, { ...request, name });
      if (!('code' in made)) service.authenticate(made.secret);
    }
    const before = writes();
    await service.uses.flush();
    expect(writes()).toBe(before + 1);
    expect((await service.uses.read()).size).toBe(3);
    await clock.advance(MINUTE_MS);
    expect(writes()).toBe(before + 1);
  });

  it('keeps the newest time of two nodes, whichever writes last', async () => {
    const { store, clock, service, key } = await aScene();
    const other = aService(store, clock);
    await other.load();
    service.authenticate(key.secret);
    await clock.advance(5000);
    other.authenticate(key.secret);
    const newest = clock.now();
    await other.uses.flush();
    await service.uses.flush();
    for (const node of [service, other, aService(store, clock)])
      expect((await node.uses.read()).get(key.id)).toBe(newest);
  });

  it('forgets a revoked key, and writes later what the store refused', async () => {
    const { store, clock, service, key } = await aScene();
    const put = store.putDocument.bind(store);
    store.putDocument = () => Promise.reject(new Error('disk full'));
    service.authenticate(key.secret);
    await service.uses.flush();
    store.putDocument = put;
    await service.uses.flush();
    expect(await store.documents('key_use')).toHaveLength(1);
    await service.revoke(OPERATOR, key.id);
    expect(await store.documents('key_use')).toEqual([]);
    await clock.advance(MINUTE_MS);
    expect(await store.documents('key_use')).toEqual([]);
  });
});
