import { describe, expect, it } from 'vitest';
import { accepted, anEngine, aPrincipal, aRequest, manualTool } from '../../test/support/an-engine.ts';
import { delayingStore } from '../../test/support/delaying-store.ts';
import { aDevice } from '../../test/support/a-device.ts';
import { settled } from '../../test/support/fake-clock.ts';
import { twoNodes, type TestPeers } from '../../test/support/two-nodes.ts';
import { nodeDigest } from '../runtime/digest.ts';
import { memoryStore } from '../store/memory/memory-store.ts';
import { singleNode } from './peers.ts';
import type { Store } from './ports.ts';
import { StorageUnavailable } from './failures.ts';

const agent = aPrincipal();
const PROBLEM = 'another server has taken over the store';
const CAMERA = { name: 'camera', schema: { type: 'object' } };

async function aNode(tool = manualTool('slow')) {
  const { a } = twoNodes(memoryStore({ digest: nodeDigest }));
  const fixture = await anEngine({ tools: [tool.tool], ...a });
  return { ...fixture, ...tool, peers: a.peers };
}

/** After each insert the node has no lease: it stood still until the result came. */
function losingItsLease(store: Store, peers: TestPeers): Store {
  return new Proxy(store, {
    get: (target, name) => {
      const member = Reflect.get(target, name) as unknown;
      if (typeof member !== 'function') return member;
      return async (...args: readonly unknown[]): Promise<unknown> => {
        const result: unknown = await Reflect.apply(member, target, args);
        if (name === 'insertCall') peers.leased = false;
        return result;
      };
    },
  });
}

describe('an engine whose store another process has taken over', () => {
  it('stops all work, forgets its calls without an end, and releases the waiters', async () => {
    const { engine, store, peers, running, clock } = await aNode();
    const ended: string[] = [];
    engine.onEnded(({ id }) => ended.push(id));
    const call = accepted(await engine.submit(aRequest({ toolName: 'slow' }), agent));
    const waiting = engine.calls.wait(agent, call.id, 60_000);
    const { context, resolve } = running.get(call.id)!;
    peers.fence(PROBLEM);
    expect(context.signal.aborted).toBe(true);
    expect((await waiting)?.state.name).toBe('EXECUTING');
    resolve('late');
    await clock.advance(3_600_000);
    expect((await store.findCall(call.id))?.state.name).toBe('EXECUTING');
    expect([ended, engine.load()]).toMatchObject([[], { open: 0, executing: 0 }]);
    await engine.drain();
  });

  it('refuses new calls and moves with storage_unavailable, and writes nothing', async () => {
    const { engine, store, peers } = await aNode();
    const call = accepted(await engine.submit(aRequest({ toolName: 'slow' }), agent));
    peers.fence(PROBLEM);
    const { seq } = await store.ledgerHead();
    expect(await engine.submit(aRequest({ toolName: 'slow' }), agent)).toMatchObject({
      kind: 'refused',
      failure: { code: 'storage_unavailable', message: PROBLEM },
    });
    expect(await engine.submit(aRequest({ toolName: 'missing' }), agent)).toMatchObject({
      failure: { code: 'storage_unavailable' },
    });
    await expect(engine.calls.cancel(agent, call.id)).rejects.toThrow(new StorageUnavailable(PROBLEM));
    expect((await store.ledgerHead()).seq).toBe(seq);
    expect(engine.isDraining).toBe(true);
  });

  it('stops a call whose record was under way', async () => {
    const shared = delayingStore(memoryStore({ digest: nodeDigest }), [3]);
    const { a } = twoNodes(shared.store);
    const { tool, running } = manualTool('slow');
    const { engine } = await anEngine({ tools: [tool], ...a });
    const submitting = engine.submit(aRequest({ toolName: 'slow' }), agent);
    await Promise.resolve();
    a.peers.fence(PROBLEM);
    const call = accepted(await submitting);
    await shared.idle();
    expect(running.has(call.id)).toBe(false);
    expect(engine.load()).toMatchObject({ open: 0, executing: 0 });
  });

  it('tells its listeners once, and a later one at once', async () => {
    const { engine, peers } = await aNode();
    const told: string[] = [];
    engine.onFenced((problem) => told.push(`first: ${problem}`));
    const stop = engine.onFenced(() => told.push('stopped'));
    stop();
    peers.fence(PROBLEM);
    peers.fence('again');
    engine.onFenced((problem) => told.push(`later: ${problem}`));
    expect(told).toEqual([`first: ${PROBLEM}`, `later: ${PROBLEM}`]);
  });

  it('leaves the work of devices to the process that manages their calls then', async () => {
    const { engine, store, peers } = await aNode();
    const { cancelled } = await aDevice(engine, [CAMERA]);
    const call = accepted(await engine.submit(aRequest({ toolName: 'camera' }), agent));
    peers.fence(PROBLEM);
    await settled();
    expect([cancelled, (await store.findCall(call.id))?.state.name]).toEqual([[], 'EXECUTING']);
  });

  it('is reported by a store of one node', async () => {
    const store = memoryStore({ digest: nodeDigest });
    let fence = (_problem: string): void => {};
    store.onFenced = (listener) => void (fence = listener);
    const { engine } = await anEngine({ store, peers: singleNode(store) });
    const told: string[] = [];
    engine.onFenced((problem) => told.push(problem));
    fence(PROBLEM);
    expect(told).toEqual([PROBLEM]);
  });
});

describe('a node without its lease', () => {
  it('records calls and begins them when it has the lease again', async () => {
    const { engine, peers, running, clock } = await aNode();
    peers.leased = false;
    const call = accepted(await engine.submit(aRequest({ toolName: 'slow' }), agent));
    await clock.advance(1000);
    expect([call.state.name, running.size, engine.load().open]).toEqual(['PENDING', 0, 1]);
    peers.leased = true;
    await clock.advance(1000);
    expect(running.has(call.id)).toBe(true);
    running.get(call.id)!.resolve(1);
    await settled();
    expect((await engine.calls.find(agent, call.id))?.state.name).toBe('COMPLETED');
    expect(engine.load()).toMatchObject({ open: 0, executing: 0, waitingForSlot: 0 });
  });

  it('does not begin a call whose slot comes free', async () => {
    const tool = manualTool('slow', { concurrency: 1 });
    const { engine, peers, running, clock } = await aNode(tool);
    const first = accepted(await engine.submit(aRequest({ toolName: 'slow' }), agent));
    const second = accepted(await engine.submit(aRequest({ toolName: 'slow' }), agent));
    peers.leased = false;
    running.get(first.id)!.resolve(1);
    await clock.advance(1000);
    expect([running.has(second.id), engine.load().executing]).toEqual([false, 0]);
    peers.leased = true;
    await clock.advance(1000);
    expect(running.has(second.id)).toBe(true);
  });

  it('does not begin a call that was committed before it lost the lease', async () => {
    for (const isFenced of [true, false]) {
      const tool = manualTool('slow');
      const { a } = twoNodes(memoryStore({ digest: nodeDigest }));
      const { peers } = a;
      const store = losingItsLease(a.store, peers);
      const { engine, clock } = await anEngine({ tools: [tool.tool], store, peers });
      const { running } = tool;
      const call = accepted(await engine.submit(aRequest({ toolName: 'slow' }), agent));
      await clock.advance(1000);
      expect([call.state.name, running.size]).toEqual(['EXECUTING', 0]);
      if (isFenced) peers.fence(PROBLEM);
      peers.leased = true;
      await clock.advance(1000);
      expect(running.has(call.id)).toBe(!isFenced);
    }
  });

  it('ends a call that waits for the lease when it is cancelled', async () => {
    const { engine, peers, running, clock } = await aNode();
    peers.leased = false;
    const call = accepted(await engine.submit(aRequest({ toolName: 'slow' }), agent));
    expect(await engine.calls.cancel(agent, call.id)).toMatchObject({ ok: true });
    peers.leased = true;
    await clock.advance(1000);
    expect([running.size, engine.load().open]).toEqual([0, 0]);
  });
});
