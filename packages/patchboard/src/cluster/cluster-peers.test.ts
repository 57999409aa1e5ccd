import { describe, expect, it } from 'vitest';
import {
  accepted,
  anEngine,
  aPrincipal,
  aRequest,
  aServerTool,
  manualTool,
  silentLog,
} from '../../test/support/an-engine.ts';
import { FakeClock, settled } from '../../test/support/fake-clock.ts';
import { MemoryNodes } from '../../test/support/memory-nodes.ts';
import { SimulatedNetwork } from '../bus/simulated-bus.ts';
import type { Call } from '../core/call/call.ts';
import type { Engine } from '../core/engine.ts';
import { StorageUnavailable } from '../core/failures.ts';
import type { Limits } from '../core/limits.ts';
import type { ServerTool } from '../core/tools/server-tool.ts';
import { nodeDigest } from '../runtime/digest.ts';
import { memoryStore } from '../store/memory/memory-store.ts';
import { ClusterPeers } from './cluster-peers.ts';
import type { NodeTable } from './node-table.ts';

const me = aPrincipal();
const STEP_MS = 50;

interface Node {
  readonly engine: Engine;
  readonly peers: ClusterPeers;
  readonly clock: FakeClock;
  readonly ended: string[];
  /** Null while it runs. Set: how long it has been paused. */
  pausedMs: number | null;
}

/** Nodes with clocks of their own over one store in memory and a simulated bus. */
class Cluster {
  readonly world: FakeClock = new FakeClock(1_800_000_000_000);
  readonly store = memoryStore({ digest: nodeDigest });
  readonly nodes: MemoryNodes = new MemoryNodes(this.store, () => this.world.now());
  readonly network: SimulatedNetwork = new SimulatedNetwork({ clock: this.world, random: () => 0.5 });
  readonly running: Node[] = [];
  /** How many of the next offers fail. */
  failingOffers = 0;
  /** How long a takeover takes, and how many were begun. */
  readonly takeovers = { ms: 0, begun: 0 };

  async join(tools: readonly ServerTool[], limits: Partial<Limits> = {}): Promise<Node> {
    // The wall clock of the node is an hour off.
    const clock = new FakeClock(this.world.now() + 3_600_000);
    const joined = this.nodes.join(`node ${this.running.length + 1}`);
    const { store } = joined;
    const table: NodeTable = {
      ...joined.table,
      offer: async (calls) => {
        this.failingOffers -= 1;
        if (this.failingOffers >= 0) throw new StorageUnavailable('the database cannot be reached');
        await joined.table.offer(calls);
      },
      takeOver: async (node) => {
        this.takeovers.begun += 1;
        await new Promise<void>((resolve) => void this.world.after(this.takeovers.ms, resolve));
        return await joined.table.takeOver(node);
      },
    };
    const bus = this.network.join(table.self.writer, silentLog);
    const ledger = { onCommitted: () => {}, grown: () => {} };
    const peers = new ClusterPeers({ table, bus, ledger, clock, log: silentLog, store, version: '1' });
    await peers.start();
    const { engine } = await anEngine({ tools, limits, clock, engineClock: peers.clock, store, peers });
    const ended: string[] = [];
    engine.onEnded(({ id }) => ended.push(id));
    const node: Node = { engine, peers, clock, ended, pausedMs: null };
    this.running.push(node);
    return node;
  }

  async advance(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += STEP_MS) {
      await this.world.advance(STEP_MS);
      for (const node of this.running)
        if (node.pausedMs === null) await node.clock.advance(STEP_MS);
        else node.pausedMs += STEP_MS;
    }
  }

  pause(node: Node): void {
    node.pausedMs = 0;
  }

  /** Its clock shows at once that time has passed; nothing has run yet. */
  wake(node: Node): void {
    node.clock.pass(node.pausedMs ?? 0);
    node.pausedMs = null;
  }

  async find({ id }: Call): Promise<Call> {
    const call = await this.store.findCall(id);
    if (call === undefined) throw new Error(`there is no call ${id}`);
    return call;
  }
}

const submit = async ({ engine }: Node, toolName: string): Promise<Call> =>
  accepted(await engine.submit(aRequest({ toolName }), me));

/** A client is connected to the node. Returns the ids of the calls that it gets. */
async function aClient({ engine }: Node): Promise<string[]> {
  const delivered: string[] = [];
  engine.clientQueues.attach('default', 'phone', {
    deliver: ({ id }) => void delivered.push(id),
    withdraw: () => undefined,
  });
  await settled();
  return delivered;
}

const CAMERA = { name: 'camera', schema: { type: 'object' } };

describe('a node that is gone', () => {
  it('is taken over within 5 s: what ran is sealed, what waited for an approval waits on', async () => {
    const cluster = new Cluster();
    const work = manualTool('work', { timeoutMs: 60_000 });
    const risky = aServerTool({ name: 'risky', annotations: { destructive: true } });
    const [a, b] = [await cluster.join([work.tool, risky]), await cluster.join([work.tool, risky])];
    await cluster.advance(1000);
    const [running, waiting] = [await submit(a, 'work'), await submit(a, 'risky')];
    const waited = b.engine.calls.wait(me, running.id, 30_000);
    cluster.pause(a);
    await cluster.advance(2500);
    expect((await cluster.find(running)).state.name).toBe('EXECUTING');
    await cluster.advance(2500);
    expect((await cluster.find(running)).state).toMatchObject({
      name: 'SEALED',
      error: { outcome: 'unknown' },
    });
    expect((await waited)?.state.name).toBe('SEALED');
    expect((await cluster.find(waiting)).state.name).toBe('APPROVAL_REQUIRED');
    expect(cluster.nodes.ownerOf(waiting.id)).toBe(b.peers.self);
    expect(b.peers.nodes.find(({ writer }) => writer === b.peers.self)?.tookOver).toMatchObject({ calls: 2 });
  });

  it('is taken over once, although that takes longer than a heartbeat', async () => {
    const cluster = new Cluster();
    const work = manualTool('work', { timeoutMs: 60_000 });
    const [a] = [await cluster.join([work.tool]), await cluster.join([work.tool])];
    await cluster.advance(1000);
    const running = await submit(a, 'work');
    cluster.takeovers.ms = 2000;
    cluster.pause(a);
    await cluster.advance(7000);
    expect((await cluster.find(running)).state.name).toBe('SEALED');
    expect(cluster.takeovers.begun).toBe(1);
  });

  it('wakes without its lease, is fenced, and changes nothing', async () => {
    const cluster = new Cluster();
    const work = manualTool('work', { timeoutMs: 60_000 });
    const [a, b] = [await cluster.join([work.tool]), await cluster.join([work.tool])];
    const problems: string[] = [];
    a.peers.onFenced((problem) => problems.push(problem));
    const running = await submit(a, 'work');
    expect(a.peers.hasLease()).toBe(true);
    cluster.pause(a);
    await cluster.advance(5000);
    const sealed = await cluster.find(running);
    cluster.wake(a);
    // Before its first heartbeat after the pause.
    expect(a.peers.hasLease()).toBe(false);
    work.running.get(running.id)?.resolve('late');
    await settled();
    await cluster.advance(1000);
    expect(problems).toEqual(['another node has taken over this one']);
    expect(await cluster.find(running)).toEqual(sealed);
    expect([a.ended, b.ended]).toEqual([[], [running.id]]);
    // Again under a new epoch.
    const again = await cluster.join([work.tool]);
    expect(again.peers.self).toBe(a.peers.self);
    expect(again.peers.hasLease()).toBe(true);
  });

  it('is not taken for dead after an outage of the database', async () => {
    const cluster = new Cluster();
    const work = manualTool('work', { timeoutMs: 60_000 });
    const [a, b] = [await cluster.join([work.tool]), await cluster.join([work.tool])];
    const running = await submit(a, 'work');
    cluster.nodes.isDown = true;
    await cluster.advance(8000);
    expect([a.peers.hasLease(), b.peers.hasLease()]).toEqual([false, false]);
    cluster.nodes.isDown = false;
    await cluster.advance(8000);
    expect([a.peers.hasLease(), b.peers.hasLease()]).toEqual([true, true]);
    expect((await cluster.find(running)).state.name).toBe('EXECUTING');
    expect(cluster.nodes.ownerOf(running.id)).toBe(a.peers.self);
  });

  it('has its overdue calls ended by another one, before that knows it dead', async () => {
    const cluster = new Cluster();
    const work = manualTool('work', { timeoutMs: 1000 });
    const [a, b] = [await cluster.join([work.tool]), await cluster.join([work.tool])];
    await cluster.advance(1000);
    const running = await submit(a, 'work');
    cluster.pause(a);
    await cluster.advance(1000);
    expect((await cluster.find(running)).state.name).toBe('EXECUTING');
    await cluster.advance(650);
    expect((await cluster.find(running)).state.name).toBe('TIMED_OUT');
    expect(b.ended).toEqual([running.id]);
  });
});

describe('without notifications', () => {
  it('a wait at another node ends within a second, and work that was cancelled elsewhere stops', async () => {
    const cluster = new Cluster();
    const work = manualTool('work', { timeoutMs: 60_000 });
    const [a, b] = [await cluster.join([work.tool]), await cluster.join([work.tool])];
    await cluster.advance(1000);
    cluster.network.stop();
    const [running, stopped] = [await submit(a, 'work'), await submit(a, 'work')];
    const waited = b.engine.calls.wait(me, running.id, 30_000);
    await settled();
    work.running.get(running.id)?.resolve('done');
    await settled();
    await cluster.advance(1100);
    expect((await waited)?.state.name).toBe('COMPLETED');
    expect(await b.engine.calls.cancel(me, stopped.id)).toMatchObject({ ok: true });
    expect(work.running.get(stopped.id)?.context.signal.aborted).toBe(false);
    await cluster.advance(1100);
    expect(work.running.get(stopped.id)?.context.signal.aborted).toBe(true);
    expect([a.ended, b.ended]).toEqual([[running.id], [stopped.id]]);
  });
});

describe('a notification that is lost while the bus is connected', () => {
  it('delays a wait at the node that held the call by a second at most', async () => {
    const cluster = new Cluster();
    const work = manualTool('work', { timeoutMs: 60_000 });
    const [a, b] = [await cluster.join([work.tool]), await cluster.join([work.tool])];
    await cluster.advance(1000);
    const running = await submit(a, 'work');
    const found: (string | undefined)[] = [];
    const waiting = Promise.resolve(a.engine.calls.wait(me, running.id, 30_000)).then((call) =>
      found.push(call?.state.name),
    );
    await settled();
    cluster.network.setFaults({ drop: 1 });
    expect(await b.engine.calls.cancel(me, running.id)).toMatchObject({ ok: true });
    await cluster.advance(1100);
    expect(found).toEqual(['CANCELLED']);
    await waiting;
  });
});

describe('after the bus was away for a moment, between two polls', () => {
  it('work that was cancelled elsewhere meanwhile stops within a second', async () => {
    const cluster = new Cluster();
    const work = manualTool('work', { timeoutMs: 60_000 });
    const [a, b] = [await cluster.join([work.tool]), await cluster.join([work.tool])];
    await cluster.advance(1000);
    const running = await submit(a, 'work');
    cluster.network.stop();
    expect(await b.engine.calls.cancel(me, running.id)).toMatchObject({ ok: true });
    cluster.network.start();
    await cluster.advance(1100);
    expect(work.running.get(running.id)?.context.signal.aborted).toBe(true);
  });
});

describe('a call that another node could take', () => {
  it('of a client that is connected there, is offered again after a write that failed', async () => {
    const cluster = new Cluster();
    const [a, b] = [await cluster.join([]), await cluster.join([])];
    for (const { engine } of [a, b]) await engine.clientTools.register('default', 'phone', [CAMERA]);
    await cluster.advance(1000);
    const delivered = await aClient(b);
    cluster.network.stop();
    cluster.failingOffers = 1;
    const { id } = await submit(a, 'camera');
    await cluster.advance(500);
    expect(delivered).toEqual([]);
    await cluster.advance(2500);
    expect([delivered, cluster.nodes.ownerOf(id)]).toEqual([[id], b.peers.self]);
  });

  it('of a client that is connected there, is offered as soon as this node knows the other one', async () => {
    const cluster = new Cluster();
    const a = await cluster.join([]);
    await a.engine.clientTools.register('default', 'phone', [CAMERA]);
    await cluster.advance(1000);
    const b = await cluster.join([]);
    const delivered = await aClient(b);
    expect(a.peers.hasOthers).toBe(false);
    const { id } = await submit(a, 'camera');
    await cluster.advance(2500);
    expect([delivered, cluster.nodes.ownerOf(id)]).toEqual([[id], b.peers.self]);
  });

  it('and that waits for a slot, runs at a node that starts later', async () => {
    const cluster = new Cluster();
    const [ofA, ofB] = [manualTool('work', { timeoutMs: 60_000 }), manualTool('work', { timeoutMs: 60_000 })];
    const a = await cluster.join([ofA.tool], { concurrencyServer: 1 });
    const [first, second] = [await submit(a, 'work'), await submit(a, 'work')];
    await cluster.advance(3000);
    expect([...ofA.running.keys()]).toEqual([first.id]);
    await cluster.join([ofB.tool], { concurrencyServer: 1 });
    await cluster.advance(1000);
    expect([...ofB.running.keys()]).toEqual([second.id]);
  });

  it('and that waits for a slot, is offered again after a write that failed', async () => {
    const cluster = new Cluster();
    const [ofA, ofB] = [manualTool('work', { timeoutMs: 60_000 }), manualTool('work', { timeoutMs: 60_000 })];
    const a = await cluster.join([ofA.tool], { concurrencyServer: 1 });
    await cluster.join([ofB.tool], { concurrencyServer: 1 });
    await cluster.advance(1000);
    cluster.failingOffers = 1;
    const [, second] = [await submit(a, 'work'), await submit(a, 'work')];
    await cluster.advance(2500);
    expect([...ofB.running.keys()]).toEqual([second.id]);
  });
});

describe('a node that leaves', () => {
  it('hands its open calls to another one, which goes on with them', async () => {
    const cluster = new Cluster();
    const risky = aServerTool({ name: 'risky', annotations: { destructive: true } });
    const [a, b] = [await cluster.join([risky]), await cluster.join([risky])];
    await cluster.advance(1000);
    const waiting = await submit(a, 'risky');
    a.peers.leave();
    await cluster.advance(100);
    expect(b.peers.nodes.find(({ writer }) => writer === a.peers.self)?.state).toBe('held');
    await cluster.advance(500);
    expect(b.peers.nodes.find(({ writer }) => writer === a.peers.self)?.state).toBe('leaving');
    await a.peers.handOver();
    await cluster.advance(100);
    expect(cluster.nodes.ownerOf(waiting.id)).toBe(b.peers.self);
    expect(b.peers.nodes.find(({ writer }) => writer === b.peers.self)?.calls).toBe(0);
    await cluster.advance(500);
    expect(b.peers.nodes.find(({ writer }) => writer === b.peers.self)?.calls).toBe(1);
  });

  it('hands a call back to the node that had it before, although that one got no notification of the move', async () => {
    const cluster = new Cluster();
    const risky = manualTool('risky', { annotations: { destructive: true } });
    const [work, other] = [manualTool('work'), manualTool('risky', { annotations: { destructive: true } })];
    const a = await cluster.join([risky.tool]);
    const b = await cluster.join([work.tool, other.tool], { concurrencyServer: 1 });
    await cluster.advance(1000);
    cluster.network.setFaults({ drop: 1 });
    const [call] = [await submit(a, 'risky'), await submit(b, 'work')];
    const operator = aPrincipal({ kind: 'operator', id: 'operator', agentId: 'operator' });
    const digest = call.approval?.digest ?? '';
    await b.engine.calls.decide(operator, call.id, { decision: 'allow', digest, note: null });
    expect(cluster.nodes.ownerOf(call.id)).toBe(b.peers.self);
    b.peers.leave();
    await b.peers.handOver();
    cluster.pause(b);
    expect(cluster.nodes.ownerOf(call.id)).toBe(a.peers.self);
    await cluster.advance(2000);
    expect([[...risky.running.keys()], [...other.running.keys()]]).toEqual([[call.id], []]);
  });
});

describe('nodes that work', () => {
  it('share the load: a call that waits for a slot runs at a node with room, once', async () => {
    const cluster = new Cluster();
    const ofA = manualTool('work', { timeoutMs: 60_000 });
    const ofB = manualTool('work', { timeoutMs: 60_000 });
    const a = await cluster.join([ofA.tool], { concurrencyServer: 1 });
    const b = await cluster.join([ofB.tool], { concurrencyServer: 1 });
    await cluster.advance(1000);
    const [first, second] = [await submit(a, 'work'), await submit(a, 'work')];
    expect([...ofA.running.keys()]).toEqual([first.id]);
    await cluster.advance(1000);
    expect([...ofB.running.keys()]).toEqual([second.id]);
    expect(cluster.nodes.ownerOf(second.id)).toBe(b.peers.self);
    ofA.running.get(first.id)?.resolve(1);
    ofB.running.get(second.id)?.resolve(2);
    await cluster.advance(100);
    expect([a.ended, b.ended]).toEqual([[first.id], [second.id]]);
    expect([...ofA.running.keys()]).toEqual([first.id]);
  });

  it('wait with a change until the others have applied it, or for a second', async () => {
    const cluster = new Cluster();
    const [a, b] = [await cluster.join([]), await cluster.join([])];
    await cluster.advance(1000);
    let applied = 0;
    let newest = 0;
    b.peers.onAnnounced(() => Promise.resolve((applied = newest)));
    let announced = 0;
    const announce = (revision: number): void => {
      newest = revision;
      a.peers.announce(revision).then(
        () => (announced = revision),
        (error: unknown) => expect.fail(String(error)),
      );
    };
    announce(7);
    await cluster.advance(100);
    expect([applied, announced]).toEqual([7, 7]);
    cluster.network.stop();
    announce(8);
    await cluster.advance(500);
    expect(announced).toBe(7);
    await cluster.advance(600);
    expect([applied, announced]).toEqual([8, 8]);
  });
});
