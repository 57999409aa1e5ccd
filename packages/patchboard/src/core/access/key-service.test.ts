import { expect, it } from 'vitest';
import { aPrincipal, silentLog } from '../../../test/support/an-engine.ts';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import { twoNodes, type TestNode } from '../../../test/support/two-nodes.ts';
import { nodeDigest } from '../../runtime/digest.ts';
import { timeOrderedIds } from '../../runtime/ids.ts';
import { memoryStore } from '../../store/memory/memory-store.ts';
import { StorageUnavailable } from '../failures.ts';
import type { Store } from '../ports.ts';
import { SharedChanges } from '../shared-changes.ts';
import { KeyService } from './key-service.ts';

const operator = aPrincipal({ kind: 'operator', id: 'operator', agentId: 'operator' });
const REQUEST = { tenant: 'default', kind: 'agent', name: 'bot', scopes: [], expiresAt: null } as const;

function keysOf({ peers }: TestNode, store: Store): KeyService {
  const clock = new FakeClock();
  const keys = new KeyService({
    store,
    clock,
    ids: timeOrderedIds(clock),
    digest: nodeDigest,
    log: silentLog,
  });
  const changes = new SharedChanges({ store, peers, clock, log: silentLog });
  changes.onDocument('key', (id, body) => keys.apply(id, body));
  return keys;
}

/** The keys of two nodes. The next deletion at node a waits for `fail`, and is not written. */
async function aScene() {
  const { a, b } = twoNodes(memoryStore({ digest: nodeDigest }));
  let fail = (): void => {};
  let isHeld = true;
  const store = new Proxy(a.store, {
    get: (target, name) => {
      const member = Reflect.get(target, name) as unknown;
      if (typeof member !== 'function') return member;
      if (name !== 'deleteDocument' || !isHeld) return member.bind(target) as unknown;
      return () =>
        new Promise((_resolve, reject) => {
          isHeld = false;
          fail = () => reject(new StorageUnavailable('the database cannot be reached'));
        });
    },
  });
  const [ofA, ofB] = [keysOf(a, store), keysOf(b, b.store)];
  const minted = await ofA.mint(operator, REQUEST);
  if ('code' in minted) throw new Error(minted.message);
  const { key, secret } = minted;
  const accepts = (): boolean[] => [ofA, ofB].map((keys) => !('code' in keys.authenticate(secret)));
  return { ofA, ofB, key, secret, accepts, fail: () => fail(), b };
}

it('rejects a key on both nodes if its revocation here is not written, and the other node revokes it too', async () => {
  const { ofA, ofB, key, accepts, fail } = await aScene();
  const revoking = ofA.revoke(operator, key.id);
  expect(accepts()).toEqual([false, true]);
  expect(await ofB.revoke(operator, key.id)).toEqual(key);
  fail();
  expect(await revoking).toEqual(key);
  expect(accepts()).toEqual([false, false]);
  expect(await ofA.revoke(operator, key.id)).toMatchObject({ code: 'key_not_found' });
});

it('accepts a key again whose revocation was not written, and revokes it then', async () => {
  const { ofA, key, accepts, fail } = await aScene();
  const revoking = ofA.revoke(operator, key.id);
  fail();
  await expect(revoking).rejects.toThrow(StorageUnavailable);
  expect(accepts()).toEqual([true, true]);
  expect(await ofA.revoke(operator, key.id)).toEqual(key);
  expect(accepts()).toEqual([false, false]);
});

it('rejects a key that is being revoked, also if the node reads its document again meanwhile', async () => {
  const { ofA, key, secret, fail } = await aScene();
  const revoking = ofA.revoke(operator, key.id);
  ofA.apply(key.id, JSON.stringify(key));
  expect(ofA.authenticate(secret)).toMatchObject({ code: 'auth_required' });
  fail();
  await expect(revoking).rejects.toThrow(StorageUnavailable);
});
