import { describe, expect, it } from 'vitest';
import { aDevice } from '../../test/support/a-device.ts';
import {
  accepted,
  anEngine,
  aPrincipal,
  aRequest,
  aServerTool,
  silentLog,
} from '../../test/support/an-engine.ts';
import { asked, holding, me, PARIS, returning, stateOf } from '../../test/support/asking-tools.ts';
import { FakeClock, settled } from '../../test/support/fake-clock.ts';
import { nodeDigest } from '../runtime/digest.ts';
import { timeOrderedIds } from '../runtime/ids.ts';
import { memoryStore } from '../store/memory/memory-store.ts';
import { GrantService } from './access/grant-service.ts';
import { GrantIndex, type Grant } from './access/grants.ts';
import { KeyService } from './access/key-service.ts';
import { SCOPES_OF_KIND } from './access/scopes.ts';
import { StorageFull } from './failures.ts';
import type { Store } from './ports.ts';
import type { ServerTool } from './tools/server-tool.ts';

/** Until `makeRoom`, every such write finds no room. */
function fill(store: Store, name: 'replaceCall' | 'deleteDocument' | 'append'): { makeRoom: () => void } {
  const write = store[name].bind(store);
  store[name] = (() => Promise.reject(new StorageFull())) as never;
  return {
    makeRoom: () => {
      store[name] = write as never;
    },
  };
}

describe('while the store has no room', () => {
  it('devices come and go, and the ledger has it when there is room', async () => {
    const { engine, clock, store } = await anEngine({});
    const { makeRoom } = fill(store, 'append');
    const { device } = await aDevice(engine, []);
    await clock.advance(5_000);
    engine.devices.disconnect(device, 'left');
    await clock.advance(5_000);
    makeRoom();
    await clock.advance(2_000);
    const rows = await store.readLedger({ kinds: ['device.changed'] }, 0, 10);
    expect(rows.map(({ row }) => JSON.parse(row.body) as unknown)).toMatchObject([
      { state: 'online' },
      { state: 'gone' },
    ]);
    const again = fill(store, 'append');
    await aDevice(engine, []);
    await clock.advance(2_000);
    const drained = engine.drain();
    await clock.advance(2_000);
    await drained;
    again.makeRoom();
  });

  it('a time limit stops the work, and is written down when there is room', async () => {
    let isStopped = false;
    const tool = aServerTool({
      name: 'slow',
      timeoutMs: 1000,
      execute: (_args, { signal }) =>
        new Promise(() => signal.addEventListener('abort', () => (isStopped = true))),
    });
    const { engine, clock, store } = await anEngine({ tools: [tool] });
    const { id } = accepted(await engine.submit(aRequest({ toolName: 'slow' }), me));
    const { makeRoom } = fill(store, 'replaceCall');
    await clock.advance(2000);
    expect(isStopped).toBe(true);
    makeRoom();
    await clock.advance(1000);
    expect((await engine.calls.find(me, id))?.state).toMatchObject({ name: 'TIMED_OUT' });
  });

  /** A tool with 5 seconds that asks once `ask` is called, when the store has no room. */
  async function askedWithoutRoom(asking: () => ServerTool) {
    let ask = (): void => {};
    const isAsking = new Promise<void>((resolve) => (ask = resolve));
    const tool = asking();
    const execute: ServerTool['execute'] = async (...given) => {
      await isAsking;
      return await tool.execute(...given);
    };
    const fixture = await asked({ ...tool, execute });
    const { makeRoom } = fill(fixture.store, 'replaceCall');
    ask();
    await fixture.clock.advance(2000);
    return { ...fixture, makeRoom };
  }

  describe.each([
    ['returned', returning],
    ['held', holding],
  ])('an input request that is %s', (_kind, asking) => {
    it('reaches the caller when there is room', async () => {
      const { makeRoom, ...fixture } = await askedWithoutRoom(asking);
      const { engine, clock, call } = fixture;
      expect((await stateOf(fixture, call)).name).toBe('EXECUTING');
      makeRoom();
      await clock.advance(1000);
      expect(await engine.calls.respond(me, call.id, PARIS)).toMatchObject({ ok: true });
      expect(await stateOf(fixture, call)).toMatchObject({ name: 'COMPLETED' });
    });

    it('does not come after the time of its tool is over', async () => {
      const { makeRoom, ...fixture } = await askedWithoutRoom(asking);
      await fixture.clock.advance(4000);
      makeRoom();
      await fixture.clock.advance(2000);
      expect(await stateOf(fixture, fixture.call)).toMatchObject({ name: 'TIMED_OUT' });
      expect(fixture.engine.load()).toMatchObject({ open: 0, executing: 0 });
    });
  });

  it('an engine starts all the same, and seals what was interrupted when there is room', async () => {
    const tools = [aServerTool({ name: 'slow', execute: () => new Promise(() => {}) })];
    const before = await anEngine({ tools });
    const { id } = accepted(await before.engine.submit(aRequest({ toolName: 'slow' }), me));
    const { store, clock } = before;
    const { makeRoom } = fill(store, 'replaceCall');
    const { engine } = await anEngine({ tools, store, clock });
    makeRoom();
    await clock.advance(1000);
    await settled();
    expect((await engine.calls.find(me, id))?.state).toMatchObject({ name: 'SEALED' });
  });

  const operator = aPrincipal({ kind: 'operator', id: 'op', scopes: new Set(SCOPES_OF_KIND.operator) });

  it('a key that could not be revoked can be revoked again, and does not come back', async () => {
    const clock = new FakeClock();
    const parts = {
      store: memoryStore({ digest: nodeDigest }),
      clock,
      ids: timeOrderedIds(clock),
      digest: nodeDigest,
    };
    const service = new KeyService({ ...parts, log: silentLog });
    const wanted = { tenant: 'default', kind: 'agent', name: 'a', scopes: null, expiresAt: null } as const;
    const minted = await service.mint(operator, wanted);
    if ('code' in minted) throw new Error(minted.message);
    const { makeRoom } = fill(parts.store, 'deleteDocument');
    await expect(service.revoke(operator, minted.key.id)).rejects.toThrow(StorageFull);
    makeRoom();
    expect(await service.revoke(operator, minted.key.id)).toMatchObject({ id: minted.key.id });
    const next = new KeyService({ ...parts, log: silentLog });
    await next.load();
    expect(next.authenticate(minted.secret)).toMatchObject({ code: 'auth_required' });
  });

  it('a grant that could not be revoked can be revoked again', async () => {
    const clock = new FakeClock();
    const index = new GrantIndex(nodeDigest);
    const grant: Grant = {
      id: 'gr_1',
      tenant: 'default',
      toolName: 't',
      toolVersion: '1',
      agentId: null,
      scope: { kind: 'tool' },
      createdAt: 0,
      createdBy: 'op',
      expiresAt: null,
    };
    index.add(grant);
    const store = memoryStore({ digest: nodeDigest });
    const service = new GrantService({ store, index, clock, ids: timeOrderedIds(clock), digest: nodeDigest });
    const { makeRoom } = fill(store, 'deleteDocument');
    await expect(service.revoke(operator, 'gr_1')).rejects.toThrow(StorageFull);
    makeRoom();
    expect(await service.revoke(operator, 'gr_1')).toMatchObject({ id: 'gr_1' });
  });
});
