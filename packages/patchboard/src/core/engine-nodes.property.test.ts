import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { aDevice, type ConnectedDevice } from '../../test/support/a-device.ts';
import { accepted, anEngine, aPrincipal, aRequest, aServerTool } from '../../test/support/an-engine.ts';
import { holding, me, PARIS, returning } from '../../test/support/asking-tools.ts';
import { delayingStore } from '../../test/support/delaying-store.ts';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { severalNodes, type TestPeers } from '../../test/support/two-nodes.ts';
import { nodeDigest } from '../runtime/digest.ts';
import { memoryStore } from '../store/memory/memory-store.ts';
import { isOpen } from './call/call.ts';
import type { Engine } from './engine.ts';
import { verifyLedger } from './ledger/ledger-check.ts';
import type { Store } from './ports.ts';
import type { ServerTool } from './tools/server-tool.ts';

const operator = aPrincipal({ kind: 'operator', id: 'operator', agentId: 'operator' });
const phone = aPrincipal({ clientId: 'phone' });
const CAMERA = { name: 'camera', schema: { type: 'object' } };
const TOOLS = ['plain', 'risky', 'held', 'returned', 'camera', 'busy'] as const;
const ACTS = [
  'allow',
  'deny',
  'cancel',
  'cancel_run',
  'respond',
  'acknowledge',
  'submit',
  'wait',
  'stream',
  'detach',
  'device',
  'resume',
  'disconnect',
  'poll_queue',
  'poll',
  'time',
] as const;

type Act = (typeof ACTS)[number];

const node = fc.nat({ max: 3 });
const steps = fc.array(
  fc.record({ node, act: fc.constantFrom(...ACTS), call: fc.nat({ max: 9 }), waits: fc.boolean() }),
  { minLength: 4, maxLength: 40 },
);
const calls = fc.array(fc.record({ node, tool: fc.constantFrom(...TOOLS), run: fc.nat({ max: 3 }) }), {
  minLength: 1,
  maxLength: 10,
});
const delays = fc.array(fc.integer({ min: 0, max: 6 }), { minLength: 1, maxLength: 9 });

interface Node {
  readonly engine: Engine;
  readonly peers: TestPeers;
}

/** Some nodes, and what their clients do. */
class World {
  readonly nodes: Node[] = [];
  readonly ids: string[] = [];
  readonly ran: string[] = [];
  readonly ended: string[] = [];
  readonly devices: { readonly node: Node; readonly connected: ConnectedDevice }[] = [];
  readonly detached: (() => void)[] = [];
  readonly clock = new FakeClock();
  waits = 0;
  woken = 0;
  readonly #store: Store;
  readonly #idle: (() => Promise<void>)[] = [];

  constructor(store: Store) {
    this.#store = store;
  }

  async start(count: number, notifies: boolean, turns: readonly number[]): Promise<void> {
    for (const { peers, store } of severalNodes(this.#store, count)) {
      peers.notifies = notifies;
      const delayed = delayingStore(store, turns);
      this.#idle.push(delayed.idle);
      const { engine } = await anEngine({
        tools: this.#tools(),
        clock: this.clock,
        peers,
        store: delayed.store,
        limits: { concurrencyServer: 2 },
      });
      engine.onEnded(({ id }) => this.ended.push(id));
      await engine.clientTools.register('default', 'phone', [CAMERA]);
      this.nodes.push({ engine, peers });
    }
  }

  async idle(): Promise<void> {
    for (const idle of [...this.#idle, ...this.#idle]) await idle();
  }

  at(index: number): Node {
    return this.nodes[index % this.nodes.length]!;
  }

  async act(act: Act, given: Node, id: string): Promise<unknown> {
    const { engine, peers } = given;
    const device = this.devices.at(-1);
    switch (act) {
      case 'allow':
      case 'deny': {
        const digest = (await engine.calls.find(operator, id))?.approval?.digest ?? '';
        return await engine.calls.decide(operator, id, { decision: act, digest, note: null });
      }
      case 'cancel':
        return await engine.calls.cancel(me, id);
      case 'cancel_run': {
        const runId = (await engine.calls.find(me, id))?.runId ?? '';
        return await engine.runs.cancel(me, runId);
      }
      case 'respond':
        return await engine.calls.respond(me, id, PARIS);
      case 'acknowledge':
        return await engine.clients.acknowledge(phone, id, null);
      case 'submit':
        return await engine.clients.submit(phone, id, RESULT);
      case 'wait': {
        this.waits += 1;
        // Not awaited here: a wait that is never woken must fail the test, not hang it.
        const waiting = Promise.resolve(engine.calls.wait(me, id, Infinity));
        return void waiting.then(() => (this.woken += 1));
      }
      case 'stream': {
        const detach = engine.clientQueues.attach('default', 'phone', IGNORING);
        return this.detached.push(() => detach());
      }
      case 'detach':
        return this.detached.pop()?.();
      case 'device':
        return this.devices.push({ node: given, connected: await aDevice(engine, [CAMERA]) });
      case 'resume': {
        const resume = device?.connected.device.resumeToken ?? null;
        const connected = await aDevice(engine, [CAMERA], 'phone', { resume });
        return this.devices.push({ node: given, connected });
      }
      case 'disconnect':
        return device?.node.engine.devices.disconnect(device.connected.device, 'lost');
      case 'poll_queue': {
        await engine.callsElsewhere.collect('default', 'phone');
        return engine.clientQueues.unacknowledged('default', 'phone');
      }
      case 'poll':
        return await peers.poll();
      case 'time':
        return await this.clock.advance(150);
    }
  }

  /** All calls are cancelled, and every node reads what it may not have heard of. */
  async end(): Promise<void> {
    for (const id of this.ids) await this.nodes[0]!.engine.calls.cancel(me, id);
    await this.idle();
    for (const { peers } of this.nodes) await peers.poll();
    await this.idle();
  }

  #tools(): ServerTool[] {
    const ran = (callId: string): void => void this.ran.push(callId);
    return [
      aServerTool({ name: 'plain', execute: (_args, { callId }) => ran(callId) }),
      aServerTool({
        name: 'risky',
        annotations: { destructive: true },
        execute: (_args, { callId }) => ran(callId),
      }),
      aServerTool({
        name: 'busy',
        execute: (_args, { callId, signal }) => {
          ran(callId);
          return new Promise((_resolve, reject) => {
            signal.addEventListener('abort', () => reject(new Error('stopped')));
          });
        },
      }),
      holding({ name: 'held' }),
      returning({ name: 'returned' }),
    ];
  }
}

const RESULT = { status: 'SUCCEEDED', result: 1, error: null, attemptToken: null } as const;
const IGNORING = { deliver: () => undefined, withdraw: () => undefined };

describe('two to four nodes over one store', () => {
  it('end each call once, run it at most once and wake every wait, whichever node acts, with or without notifications', async () => {
    const property = fc.asyncProperty(
      fc.integer({ min: 2, max: 4 }),
      calls,
      steps,
      delays,
      fc.boolean(),
      async (count, submitted, acts, turns, notifies) => {
        const store = memoryStore({ digest: nodeDigest });
        const world = new World(store);
        await world.start(count, notifies, turns);
        for (const { node: index, tool, run } of submitted) {
          const request = aRequest({ toolName: tool, runId: `run_${run}` });
          world.ids.push(accepted(await world.at(index).engine.submit(request, me)).id);
        }
        const { ids, nodes, devices } = world;
        const acting: Promise<unknown>[] = [];
        for (const { node: index, act, call, waits } of acts) {
          acting.push(world.act(act, world.at(index), ids[call % ids.length]!));
          if (waits) await world.idle();
        }
        await world.idle();
        await world.end();
        await Promise.all(acting);
        await world.idle();
        for (const id of ids) expect(isOpen((await store.findCall(id))!)).toBe(false);
        expect(world.ended.toSorted()).toEqual(ids.toSorted());
        expect(new Set(world.ran).size).toBe(world.ran.length);
        expect(world.woken).toBe(world.waits);
        for (const { engine } of nodes)
          expect(engine.load()).toMatchObject({ open: 0, executing: 0, waitingForSlot: 0 });
        for (const { connected } of devices)
          expect([connected.device.calls.size, connected.device.reserved]).toEqual([0, 0]);
        expect(await verifyLedger(store, nodeDigest)).toMatchObject({ ok: true });
      },
    );
    await fc.assert(property, { numRuns: 150 });
  });
});
