import type { ToolSpec } from '@patchboard/wire';
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
import { anUpstreamTool, AnUpstream } from '../../test/support/an-upstream.ts';
import { FakeClock, settled } from '../../test/support/fake-clock.ts';
import { twoNodes, type TestNode } from '../../test/support/two-nodes.ts';
import { nodeDigest } from '../runtime/digest.ts';
import { memoryStore } from '../store/memory/memory-store.ts';
import type { Engine } from './engine.ts';
import type { Store } from './ports.ts';
import { SharedChanges } from './shared-changes.ts';

const T = 'default';
const operator = aPrincipal({ kind: 'operator', id: 'operator', agentId: 'operator' });

function aSpec(name: string, more: Partial<ToolSpec> = {}): ToolSpec {
  return { name, schema: { type: 'object' }, ...more };
}

interface Node extends TestNode {
  readonly engine: Engine;
}

type Given = Parameters<typeof anEngine>[0];

async function aPair(given: (name: 'a' | 'b') => Given = () => ({})): Promise<{ a: Node; b: Node }> {
  const clock = new FakeClock();
  const nodes = twoNodes(memoryStore({ digest: nodeDigest }));
  const start = async (name: 'a' | 'b'): Promise<Node> => {
    const { store, peers } = nodes[name];
    const { engine } = await anEngine({ clock, store, peers, ...given(name) });
    return { ...nodes[name], engine };
  };
  return { a: await start('a'), b: await start('b') };
}

function namesAt({ engine }: Node): string[] {
  return engine.toolIndex.list(T).map(({ name }) => name);
}

describe('tools that clients register at one of two nodes', () => {
  it('can be called, changed and removed at the other one', async () => {
    const { a, b } = await aPair();
    await a.engine.clientTools.register(T, 'phone', [aSpec('camera.take'), aSpec('lamp.on')]);
    expect(namesAt(b)).toEqual(['camera.take', 'lamp.on']);
    expect(
      accepted(await b.engine.submit(aRequest({ toolName: 'camera.take' }), aPrincipal())),
    ).toMatchObject({
      clientId: 'phone',
    });
    await b.engine.clientTools.register(T, 'phone', [aSpec('lamp.on', { description: 'light' })]);
    expect(a.engine.toolIndex.clientTool(T, 'lamp.on')?.description).toBe('light');
    expect(await a.engine.clientTools.unregister(T, 'phone', 'lamp.on')).toEqual(['lamp.on']);
    expect([namesAt(a), namesAt(b)]).toEqual([['camera.take'], ['camera.take']]);
  });

  it('are in the list of a node that starts later, and events tell the clients of the other one', async () => {
    const { a, b } = await aPair();
    const lists: string[][] = [];
    b.engine.feed.listen(({ type }) => {
      if (type === 'registry.changed') lists.push(namesAt(b));
    });
    await a.engine.clientTools.register(T, 'phone', [aSpec('camera.take')]);
    await settled();
    // The ledger row may arrive before the tool: after the last event the list is complete.
    expect(lists.at(-1)).toEqual(['camera.take']);
    await aDevice(a.engine, [aSpec('lamp.on')], 'tablet');
    const { engine } = await anEngine({ store: b.store, peers: b.peers });
    expect(engine.toolIndex.list(T).map(({ name }) => name)).toEqual(['camera.take', 'lamp.on']);
  });

  it('have a name of one client, whichever node it registers with first', async () => {
    const { a, b } = await aPair();
    for (const name of ['one', 'two', 'three']) {
      const reports = await Promise.all([
        a.engine.clientTools.register(T, 'phone', [aSpec(name)]),
        b.engine.clientTools.register(T, 'tablet', [aSpec(name), aSpec(`${name}.other`)]),
      ]);
      expect(reports.flatMap(({ rejected }) => rejected)).toMatchObject([{ name, code: 'name_taken' }]);
      const holders = [a, b].map(({ engine }) => engine.toolIndex.clientTool(T, name)?.clientId);
      expect(holders[0]).toBe(reports[0].rejected.length === 0 ? 'phone' : 'tablet');
      expect(holders[1]).toBe(holders[0]);
      expect(b.engine.toolIndex.clientTool(T, `${name}.other`)?.clientId).toBe('tablet');
    }
  });

  it('belong to the client that registers a name while another one gives it back', async () => {
    const { a, b } = await aPair();
    await a.engine.clientTools.register(T, 'phone', [aSpec('lamp.on')]);
    let release = (): void => {};
    const announce = a.peers.announce.bind(a.peers);
    a.peers.announce = async (revision) => {
      await announce(revision);
      await new Promise<void>((resolve) => {
        release = resolve;
      });
    };
    const removing = a.engine.clientTools.unregister(T, 'phone', null);
    await settled();
    await b.engine.clientTools.register(T, 'tablet', [aSpec('lamp.on')]);
    release();
    expect(await removing).toEqual(['lamp.on']);
    for (const { engine } of [a, b])
      expect(engine.toolIndex.clientTool(T, 'lamp.on')?.clientId).toBe('tablet');
  });

  it('keep the risk that the other node recorded', async () => {
    const { a, b } = await aPair();
    const risky = aSpec('door.open', { annotations: { destructive: true } });
    await a.engine.clientTools.register(T, 'phone', [risky]);
    await a.engine.clientTools.unregister(T, 'phone', null);
    await b.engine.clientTools.register(T, 'phone', [aSpec('door.open')]);
    expect(b.engine.toolIndex.clientTool(T, 'door.open')?.annotations.destructive).toBe(true);
    await b.engine.clientTools.forgetRisk(T, 'phone', 'door.open', 'operator');
    await a.engine.clientTools.register(T, 'phone', [aSpec('door.open')]);
    expect(a.engine.toolIndex.clientTool(T, 'door.open')?.annotations.destructive).toBeUndefined();
  });
});

describe('tools of a device at one of two nodes', () => {
  it('are online at the other one as long as a device at some node offers them', async () => {
    const { a, b } = await aPair();
    const ofA = await aDevice(a.engine, [aSpec('camera.take')]);
    expect(namesAt(b)).toEqual(['camera.take']);
    expect(b.engine.pools.isOnline(T, 'camera.take')).toBe(true);
    const ofB = await aDevice(b.engine, [aSpec('camera.take')]);
    a.engine.devices.disconnect(ofA.device, 'left');
    await settled();
    expect([namesAt(a), namesAt(b)]).toEqual([['camera.take'], ['camera.take']]);
    expect(ofB.device.tools.has('camera.take')).toBe(true);
    b.engine.devices.disconnect(ofB.device, 'left');
    await settled();
    expect([namesAt(a), namesAt(b)]).toEqual([[], []]);
  });

  it('are gone with their node', async () => {
    const { a, b } = await aPair();
    await aDevice(a.engine, [aSpec('camera.take')]);
    expect(namesAt(b)).toEqual(['camera.take']);
    a.devicesGone();
    await b.peers.poll();
    expect(namesAt(b)).toEqual([]);
    expect((await aDevice(b.engine, [aSpec('camera.take')], 'tablet')).device.tools.size).toBe(1);
  });

  it('have a name of one client, whichever node it registers with first', async () => {
    const { a, b } = await aPair();
    const [ofA, ofB] = await Promise.all([
      aDevice(a.engine, [aSpec('camera.take')], 'phone'),
      aDevice(b.engine, [aSpec('camera.take'), aSpec('lamp.on')], 'tablet'),
    ]);
    expect(ofA.device.tools.size + ofB.device.tools.size).toBe(2);
    expect(ofB.device.tools.has('lamp.on')).toBe(true);
    const holder = ofA.device.tools.size === 1 ? 'phone' : 'tablet';
    for (const { engine } of [a, b])
      expect(engine.toolIndex.clientTool(T, 'camera.take')?.clientId).toBe(holder);
  });

  it('do not change their contract while a device at the other node offers another one', async () => {
    const { a, b } = await aPair();
    await aDevice(a.engine, [aSpec('camera.take')]);
    const report = await b.engine.clientTools.register(T, 'phone', [
      aSpec('camera.take', { description: 'other' }),
    ]);
    expect(report.rejected).toMatchObject([{ name: 'camera.take', code: 'name_taken' }]);
  });

  it('stay with the device if the registration over HTTP ends at the other node', async () => {
    const { a, b } = await aPair();
    await b.engine.clientTools.register(T, 'phone', [aSpec('camera.take')]);
    const { device } = await aDevice(a.engine, [aSpec('camera.take')]);
    await b.engine.clientTools.unregister(T, 'phone', null);
    expect([namesAt(a), namesAt(b), device.tools.size]).toEqual([[], [], 0]);
  });
});

describe('a tool that is not known here', () => {
  it('is looked for once more, because another node may have registered it', async () => {
    const { a, b } = await aPair();
    a.peers.notifies = false;
    await a.engine.clientTools.register(T, 'phone', [aSpec('camera.take')]);
    expect(namesAt(b)).toEqual([]);
    const submitted = await b.engine.submit(aRequest({ toolName: 'camera.take' }), aPrincipal());
    expect(submitted.kind).toBe('accepted');
    await a.engine.clientTools.register(T, 'phone', [aSpec('lamp.on')]);
    expect((await b.engine.findTool(aPrincipal(), 'lamp.on'))?.name).toBe('lamp.on');
    const unknown = await b.engine.submit(aRequest({ toolName: 'never.was' }), aPrincipal());
    expect(unknown).toMatchObject({ kind: 'refused', failure: { code: 'tool_not_found' } });
  });
});

describe('what operators change at one of two nodes', () => {
  it('holds at the other one: a grant', async () => {
    const asking = aServerTool({ name: 'risky', annotations: { requires_approval: true } });
    const { a, b } = await aPair(() => ({ tools: [asking] }));
    const call = accepted(await a.engine.submit(aRequest({ toolName: 'risky' }), aPrincipal()));
    const grant = { scope: 'tool', when: [], thisAgentOnly: false, lifetimeMs: null } as const;
    const digest = call.approval?.digest ?? '';
    await b.engine.calls.decide(operator, call.id, { decision: 'allow', digest, note: null, grant });
    await settled();
    const stateAt = async ({ engine }: Node): Promise<string> => {
      const submitted = accepted(await engine.submit(aRequest({ toolName: 'risky' }), aPrincipal()));
      return submitted.state.name;
    };
    expect([await stateAt(a), await stateAt(b)]).not.toContain('APPROVAL_REQUIRED');
  });

  it('holds at the other one: an accepted contract of an upstream', async () => {
    const upstreams = { a: new AnUpstream(), b: new AnUpstream() };
    const { a, b } = await aPair((name) => ({ upstreams: [upstreams[name]] }));
    const tool = anUpstreamTool({ name: 'github.search' });
    for (const upstream of Object.values(upstreams)) upstream.lists([tool]);
    await settled();
    for (const upstream of Object.values(upstreams)) upstream.lists([{ ...tool, description: 'changed' }]);
    await settled();
    const changed = ({ engine }: Node): boolean =>
      engine.toolIndex.serverTool('github.search')?.contractChange !== null;
    expect([changed(a), changed(b)]).toEqual([true, true]);
    const { version } = a.engine.toolIndex.serverTool('github.search')!;
    expect(await a.engine.upstreams.accept(operator, 'github', { 'github.search': version })).toEqual([
      'github.search',
    ]);
    expect([changed(a), changed(b)]).toEqual([false, false]);
  });
});

describe('catching up', () => {
  /** Changes of one other node; `reads` counts how often they were read. */
  function someChanges(clock = new FakeClock()) {
    const store = memoryStore({ digest: nodeDigest });
    const { a, b } = twoNodes(store);
    let reads = 0;
    const counting: Pick<Store, 'changes' | 'onChanged'> = {
      changes: async (after) => {
        reads += 1;
        return await a.store.changes!(after);
      },
      onChanged: (distribute) => a.store.onChanged?.(distribute),
    };
    const changes = new SharedChanges({ store: counting, peers: a.peers, clock, log: silentLog });
    const seen: (string | null)[] = [];
    changes.onDocument('key', (_id, body) => void seen.push(body));
    return { changes, seen, other: b.store, peers: b.peers, clock, reads: () => reads };
  }

  it('shares one read between callers, and begins another for those that come during it', async () => {
    const { changes, seen, other, peers, reads } = someChanges();
    peers.notifies = false;
    await other.putDocument('key', 'k', '1', []);
    const first = changes.catchUp();
    const put = other.putDocument('key', 'k', '2', []);
    await Promise.all([first, put, changes.catchUp(), changes.catchUp(), changes.catchUp()]);
    expect(reads()).toBe(2);
    expect(seen.at(-1)).toBe('2');
  });

  it('reads at most 50 times a second for misses', async () => {
    const { changes, seen, other, peers, clock, reads } = someChanges();
    peers.notifies = false;
    for (let n = 0; n < 80; n += 1) expect(await changes.afterMiss()).toBe(false);
    expect(reads()).toBe(50);
    await other.putDocument('key', 'k', '1', []);
    expect(await changes.afterMiss()).toBe(false);
    clock.pass(1000);
    expect(await changes.afterMiss()).toBe(true);
    expect(seen).toEqual(['1']);
  });

  it('goes on after a document that cannot be applied', async () => {
    const { changes, seen, other } = someChanges();
    changes.onDocument('grant', () => {
      throw new Error('unreadable');
    });
    await other.putDocument('grant', 'g', '{', []);
    await other.putDocument('key', 'k', '1', []);
    await changes.catchUp();
    expect(seen).toEqual(['1']);
  });
});
