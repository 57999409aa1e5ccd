import { describe, expect, it, vi } from 'vitest';
import { aDevice } from '../../test/support/a-device.ts';
import {
  accepted,
  anEngine,
  aPrincipal,
  aRequest,
  aServerTool,
  manualTool,
} from '../../test/support/an-engine.ts';
import { CITY, holding, me, PARIS, returning } from '../../test/support/asking-tools.ts';
import { FakeClock, settled } from '../../test/support/fake-clock.ts';
import { each, twoNodes, type TestPeers } from '../../test/support/two-nodes.ts';
import { nodeDigest } from '../runtime/digest.ts';
import { memoryStore } from '../store/memory/memory-store.ts';
import { attemptToken } from './devices/request-id.ts';
import type { Call } from './call/call.ts';
import type { Engine } from './engine.ts';
import { DEFAULT_LIMITS } from './limits.ts';
import type { Store } from './ports.ts';
import type { ServerTool } from './tools/server-tool.ts';

const operator = aPrincipal({ kind: 'operator', id: 'operator', agentId: 'operator' });
const phone = aPrincipal({ clientId: 'phone' });
const CAMERA = { name: 'camera', schema: { type: 'object' } };
const result = { status: 'SUCCEEDED', result: 1, error: null, attemptToken: null } as const;

interface Node {
  readonly engine: Engine;
  readonly peers: TestPeers;
  /** Ids of the calls whose end this node counted. */
  readonly ended: string[];
}

interface Pair {
  readonly a: Node;
  readonly b: Node;
  readonly store: Store;
  readonly clock: FakeClock;
}

/** Two engines over one store. `tools`: what each offers. */
async function aPair(toolsOfA: readonly ServerTool[], toolsOfB = toolsOfA): Promise<Pair> {
  const store = memoryStore({ digest: nodeDigest });
  const clock = new FakeClock();
  const nodes = twoNodes(store);
  const start = async (name: 'a' | 'b', tools: readonly ServerTool[]): Promise<Node> => {
    const { engine } = await anEngine({ tools, clock, ...nodes[name] });
    const ended: string[] = [];
    engine.onEnded(({ id }) => ended.push(id));
    return { engine, peers: nodes[name].peers, ended };
  };
  return { a: await start('a', toolsOfA), b: await start('b', toolsOfB), store, clock };
}

/** One tool per node, with the nodes on which it ran. */
function risky(): { ofA: ServerTool; ofB: ServerTool; ran: string[] } {
  const ran: string[] = [];
  const tool = (node: string): ServerTool =>
    aServerTool({ name: 'risky', annotations: { destructive: true }, execute: () => void ran.push(node) });
  return { ofA: tool('a'), ofB: tool('b'), ran };
}

async function submit({ engine }: Node, toolName: string): Promise<Call> {
  const call = accepted(await engine.submit(aRequest({ toolName }), me));
  await settled();
  return call;
}

async function registerCamera({ a, b }: Pair): Promise<void> {
  for (const { engine } of [a, b]) await engine.clientTools.register('default', 'phone', [CAMERA]);
}

async function stateOf({ store }: Pair, { id }: Call): Promise<string> {
  await settled();
  return (await store.findCall(id))?.state.name ?? 'missing';
}

function allow({ approval }: Call): { decision: 'allow'; digest: string; note: null } {
  return { decision: 'allow', digest: approval?.digest ?? '', note: null };
}

describe('a call that waits for approval on another node', () => {
  it('runs where it was approved, once, and its waiters on the first node are woken', async () => {
    const { ofA, ofB, ran } = risky();
    const pair = await aPair([ofA], [ofB]);
    const call = await submit(pair.a, 'risky');
    const waiting = pair.a.engine.calls.wait(me, call.id, 60_000);
    expect(await pair.b.engine.calls.previewDecision(operator, call.id, {})).toMatchObject({ ok: true });
    expect(await pair.b.engine.calls.decide(operator, call.id, allow(call))).toMatchObject({ ok: true });
    expect(await stateOf(pair, call)).toBe('COMPLETED');
    expect((await waiting)?.state.name).toBe('COMPLETED');
    expect([ran, pair.a.ended, pair.b.ended]).toEqual([['b'], [], [call.id]]);
    expect([pair.a.engine.load().open, pair.b.engine.load().open]).toEqual([0, 0]);
  });

  it('is decided once by two nodes at the same time', async () => {
    for (const notifies of [true, false]) {
      const { ofA, ofB, ran } = risky();
      const pair = await aPair([ofA], [ofB]);
      pair.a.peers.notifies = notifies;
      pair.b.peers.notifies = notifies;
      const call = await submit(pair.a, 'risky');
      const decisions = await Promise.all([
        pair.a.engine.calls.decide(operator, call.id, allow(call)),
        pair.b.engine.calls.decide(operator, call.id, { ...allow(call), decision: 'deny' }),
      ]);
      expect(decisions.filter(({ ok }) => ok)).toHaveLength(1);
      expect(await stateOf(pair, call)).toBe(decisions[0].ok ? 'COMPLETED' : 'DENIED');
      expect(ran).toEqual(decisions[0].ok ? ['a'] : []);
      expect([...pair.a.ended, ...pair.b.ended]).toEqual([call.id]);
    }
  });

  it('expires once, whichever node finds out', async () => {
    const { ofA, ofB } = risky();
    const pair = await aPair([ofA], [ofB]);
    const call = await submit(pair.a, 'risky');
    pair.clock.jumpWall(24 * 3_600_000);
    expect(await pair.b.engine.calls.decide(operator, call.id, allow(call))).toMatchObject({
      failure: { code: 'conflict' },
    });
    // Past the deadline. A wheel that stays armed fires 20 times a second, so a longer time would only take longer to fail.
    await pair.clock.advance(DEFAULT_LIMITS.approvalExpiryMs + 1000);
    expect(await stateOf(pair, call)).toBe('DENIED');
    expect([...pair.a.ended, ...pair.b.ended]).toEqual([call.id]);
    expect(pair.clock.armed).toBe(0);
  });
});

describe('a call that another node runs', () => {
  it('is cancelled: the work stops at the notification, its slot is free, and the end is counted once', async () => {
    const { tool, running } = manualTool('slow');
    const pair = await aPair([tool]);
    const call = await submit(pair.a, 'slow');
    const waiting = pair.a.engine.calls.wait(me, call.id, 60_000);
    const { signal } = running.get(call.id)!.context;
    expect(await pair.b.engine.calls.cancel(me, call.id)).toMatchObject({
      ok: true,
      value: { state: { name: 'CANCELLED', error: { outcome: 'unknown' } } },
    });
    await settled();
    expect(signal.aborted).toBe(true);
    expect((await waiting)?.state.name).toBe('CANCELLED');
    expect(pair.a.engine.load()).toMatchObject({ open: 0, executing: 0 });
    expect([pair.a.ended, pair.b.ended]).toEqual([[], [call.id]]);
  });

  it('is cancelled without a notification: the work stops at its next move', async () => {
    const { tool, running } = manualTool('slow');
    const pair = await aPair([tool]);
    pair.b.peers.notifies = false;
    const call = await submit(pair.a, 'slow');
    const waiting = pair.a.engine.calls.wait(me, call.id, 60_000);
    expect(await pair.b.engine.calls.cancel(me, call.id)).toMatchObject({ ok: true });
    expect(pair.a.engine.load()).toMatchObject({ open: 1, executing: 1 });
    running.get(call.id)!.resolve('late');
    expect(await stateOf(pair, call)).toBe('CANCELLED');
    expect((await waiting)?.state.name).toBe('CANCELLED');
    expect(pair.a.engine.load()).toMatchObject({ open: 0, executing: 0 });
    expect([pair.a.ended, pair.b.ended]).toEqual([[], [call.id]]);
  });

  it('is not expired again by the node that lost it', async () => {
    const { tool } = manualTool('slow');
    const pair = await aPair([tool]);
    pair.b.peers.notifies = false;
    const call = await submit(pair.a, 'slow');
    await pair.b.engine.calls.cancel(me, call.id);
    await pair.clock.advance(60_000);
    expect(await stateOf(pair, call)).toBe('CANCELLED');
    expect([pair.a.ended, pair.a.engine.load().open]).toEqual([[], 0]);
  });

  it('is cancelled on the node that has lost it without knowing', async () => {
    const { ofA, ofB } = risky();
    const pair = await aPair([ofA], [{ ...ofB, execute: () => new Promise(() => {}) }]);
    pair.b.peers.notifies = false;
    const call = await submit(pair.a, 'risky');
    await pair.b.engine.calls.decide(operator, call.id, allow(call));
    await settled();
    expect(await pair.a.engine.calls.cancel(me, call.id)).toMatchObject({
      ok: true,
      value: { state: { name: 'CANCELLED' } },
    });
    await settled();
    expect([pair.a.ended, pair.b.ended]).toEqual([[call.id], []]);
    expect(pair.b.engine.load()).toMatchObject({ open: 0, executing: 0 });
  });
});

describe('a client’s call that another node recorded', () => {
  it('takes one result, whichever node gets it first', async () => {
    const pair = await aPair([]);
    await registerCamera(pair);
    const call = await submit(pair.a, 'camera');
    const reports = await Promise.all([
      pair.b.engine.clients.submit(phone, call.id, result),
      pair.a.engine.clients.submit(phone, call.id, { ...result, result: 2 }),
    ]);
    expect(reports.filter(({ ok }) => ok)).toHaveLength(1);
    expect(await stateOf(pair, call)).toBe('COMPLETED');
    expect([...pair.a.ended, ...pair.b.ended]).toEqual([call.id]);
    expect(await pair.b.engine.clients.submit(phone, call.id, result)).toMatchObject({
      ok: reports[0].ok,
    });
  });

  it('moves to the node where the client acknowledges it, with its deadline', async () => {
    const pair = await aPair([]);
    await registerCamera(pair);
    const call = await submit(pair.a, 'camera');
    expect(await pair.b.engine.clients.acknowledge(phone, call.id, null)).toMatchObject({ repeated: false });
    await settled();
    expect([pair.a.engine.load().open, pair.b.engine.load().open]).toEqual([0, 1]);
    await pair.clock.advance(3_600_000);
    expect(await stateOf(pair, call)).toBe('TIMED_OUT');
    expect([pair.a.ended, pair.b.ended]).toEqual([[], [call.id]]);
  });

  it('is cancelled on the device that runs it', async () => {
    const pair = await aPair([]);
    const { device, cancelled } = await aDevice(pair.a.engine, [CAMERA]);
    const call = await submit(pair.a, 'camera');
    expect(await pair.b.engine.calls.cancel(me, call.id)).toMatchObject({ ok: true });
    await settled();
    expect([cancelled, device.calls.size]).toEqual([['cancelled'], 0]);
  });

  it('goes on at its device when the client asks for input at the other node, which manages the call from then on', async () => {
    const pair = await aPair([]);
    await registerCamera(pair);
    const { cancelled } = await aDevice(pair.a.engine, [CAMERA]);
    const { id } = await submit(pair.a, 'camera');
    const call = (await pair.store.findCall(id))!;
    const asked = {
      key: 'k',
      attemptToken: attemptToken(call) ?? '',
      request: { message: 'Which?', schema: {} },
    };
    expect(await pair.b.engine.clientInputs.request(phone, id, asked)).toMatchObject({ ok: true });
    await settled();
    expect([cancelled, pair.a.engine.load().open, pair.b.engine.load().open]).toEqual([[], 0, 1]);
    expect(await pair.a.engine.calls.respond(me, id, { ...PARIS, content: 1 })).toMatchObject({ ok: true });
    expect(await stateOf(pair, call)).toBe('EXECUTING');
  });
});

describe('an input request of a tool on another node', () => {
  it('that was returned: the tool runs again where the response arrived', async () => {
    const [ofA, ofB] = [returning(), returning()];
    const pair = await aPair([ofA], [ofB]);
    const call = await submit(pair.a, 'ask');
    expect(await pair.b.engine.calls.respond(me, call.id, PARIS)).toMatchObject({ ok: true });
    expect(await stateOf(pair, call)).toBe('COMPLETED');
    expect([ofA.runs.length, ofB.runs.length]).toEqual([1, 1]);
    expect([pair.a.ended, pair.b.ended]).toEqual([[], [call.id]]);
  });

  it.each(['accept', 'decline'] as const)(
    'that is held: the tool goes on where it waits (%s)',
    async (action) => {
      const pair = await aPair([holding()]);
      const call = await submit(pair.a, 'ask');
      const waiting = pair.a.engine.calls.wait(me, call.id, 60_000);
      expect(await pair.b.engine.calls.respond(me, call.id, { ...PARIS, action })).toMatchObject({
        ok: true,
      });
      expect((await waiting)?.state.name).toBe(action === 'accept' ? 'COMPLETED' : 'FAILED');
      expect((await pair.store.findCall(call.id))?.timeline.map(({ state }) => state).slice(2, 5)).toEqual([
        'INPUT_REQUIRED',
        'INPUT_REQUIRED',
        'EXECUTING',
      ]);
      expect([pair.a.ended, pair.b.ended]).toEqual([[call.id], []]);
      expect([pair.a.engine.load().open, pair.b.engine.load().open]).toEqual([0, 0]);
    },
  );

  it('that is held takes one response', async () => {
    const pair = await aPair([holding()]);
    const call = await submit(pair.a, 'ask');
    const responses = await Promise.all(
      [pair.a, pair.b].map(({ engine }) => engine.calls.respond(me, call.id, PARIS)),
    );
    expect(responses.filter(({ ok }) => ok)).toHaveLength(1);
    expect(await stateOf(pair, call)).toBe('COMPLETED');
    const rows = await pair.store.readLedger({ callId: call.id, kinds: ['input_given'] }, 0, 10);
    expect(rows).toHaveLength(1);
  });

  it('that is held goes on after a response whose notification came late', async () => {
    const pair = await aPair([holding()]);
    pair.b.peers.notifies = false;
    const call = await submit(pair.a, 'ask');
    await pair.b.engine.calls.respond(me, call.id, PARIS);
    expect(await stateOf(pair, call)).toBe('INPUT_REQUIRED');
    // A refusal shows the call as it is stored.
    const { version } = (await pair.store.findCall(call.id))!;
    expect(await pair.a.engine.calls.respond(me, call.id, { ...PARIS, id: 'in_9' })).toMatchObject({
      ok: false,
      call: { version },
    });
    expect(await pair.a.engine.calls.respond(me, call.id, PARIS)).toMatchObject({
      ok: false,
      failure: { code: 'conflict' },
    });
    pair.b.peers.notifies = true;
    pair.b.peers.moved((await pair.store.findCall(call.id))!);
    expect(await stateOf(pair, call)).toBe('COMPLETED');
  });

  it('that is held goes on after a response shortly before its expiry, of which the node hears later', async () => {
    const pair = await aPair([holding()]);
    pair.b.peers.notifies = false;
    const call = await submit(pair.a, 'ask');
    await pair.clock.advance(DEFAULT_LIMITS.inputExpiryMs - 500);
    expect(await pair.b.engine.calls.respond(me, call.id, PARIS)).toMatchObject({ ok: true });
    await pair.clock.advance(1_000);
    await pair.a.peers.poll();
    expect(await stateOf(pair, call)).toBe('COMPLETED');
  });

  it('is cancelled with its call', async () => {
    const pair = await aPair([holding()]);
    const call = await submit(pair.a, 'ask');
    expect(await pair.b.engine.calls.cancel(me, call.id)).toMatchObject({ ok: true });
    await settled();
    expect(pair.a.engine.load()).toMatchObject({ open: 0, executing: 0 });
    expect([pair.a.ended, pair.b.ended]).toEqual([[], [call.id]]);
  });
});

describe('a single node', () => {
  it('reads an ended call once for a move that comes too late', async () => {
    const { engine, store } = await anEngine({ tools: [aServerTool({ name: 'plain' })] });
    const { id } = accepted(await engine.submit(aRequest({ toolName: 'plain' }), me));
    await settled();
    const reads = vi.spyOn(store, 'findCall');
    const late = [
      () => engine.calls.cancel(me, id),
      () => engine.calls.decide(operator, id, { decision: 'allow', digest: '', note: null }),
      () => engine.calls.respond(me, id, PARIS),
      () => engine.clients.submit(phone, id, result),
    ];
    for (const [index, move] of late.entries()) {
      expect(await move()).toMatchObject({ ok: false, failure: { code: 'conflict' } });
      expect(reads).toHaveBeenCalledTimes(index + 1);
    }
  });
});

describe('the calls of a node that is gone', () => {
  it('fall to the other one: what ran is sealed, what waited goes on, what is its own already stays', async () => {
    const { tool } = manualTool('slow');
    const { ofA, ofB, ran } = risky();
    const pair = await aPair([tool, ofA], [tool, ofB]);
    const running = await submit(pair.a, 'slow');
    const waiting = await submit(pair.a, 'risky');
    const own = await submit(pair.b, 'slow');
    await pair.b.peers.orphaned(pair.store.openCalls());
    expect(await stateOf(pair, running)).toBe('SEALED');
    expect(await stateOf(pair, own)).toBe('EXECUTING');
    expect(await pair.b.engine.calls.decide(operator, waiting.id, allow(waiting))).toMatchObject({
      ok: true,
    });
    expect(await stateOf(pair, waiting)).toBe('COMPLETED');
    expect([ran, pair.b.ended]).toEqual([['b'], [running.id, waiting.id]]);
    await settled();
    // The other node was only slow: it finds out.
    expect(pair.a.engine.load()).toMatchObject({ open: 0, executing: 0 });
    expect(pair.a.ended).toEqual([]);
  });

  it('go on with a response to a held request of a client that the gone node did not read', async () => {
    const pair = await aPair([]);
    await registerCamera(pair);
    pair.b.peers.notifies = false;
    const { id } = await submit(pair.a, 'camera');
    const call = (await pair.store.findCall(id))!;
    const asked = {
      key: 'k',
      attemptToken: attemptToken(call) ?? '',
      request: { message: 'Which?', schema: {} },
    };
    await pair.a.engine.clientInputs.request(phone, id, asked);
    await pair.b.engine.calls.respond(me, id, { ...PARIS, content: 1 });
    expect(await stateOf(pair, call)).toBe('INPUT_REQUIRED');
    await pair.b.peers.orphaned(pair.store.openCalls());
    expect(await stateOf(pair, call)).toBe('EXECUTING');
  });

  it.each([
    ['is sealed', false, 'SEALED'],
    ['runs again if its tool is idempotent', true, 'COMPLETED'],
  ])(
    'whose input was given after the rows were read for the takeover: %s',
    async (_name, idempotent, expected) => {
      let asks = true;
      const tool = holding({
        annotations: { idempotent },
        execute: (_args, context) => (asks ? context.requestInput(CITY) : 'done'),
      });
      const pair = await aPair([tool]);
      const call = await submit(pair.a, 'ask');
      asks = false;
      const rows: Call[] = [];
      for await (const row of pair.store.openCalls()) rows.push(row);
      pair.b.peers.notifies = false;
      expect(await pair.b.engine.calls.respond(me, call.id, PARIS)).toMatchObject({ ok: true });
      expect(await stateOf(pair, call)).toBe('INPUT_REQUIRED');
      await pair.b.peers.orphaned(each(rows));
      expect(await stateOf(pair, call)).toBe(expected);
      expect(pair.b.engine.load()).toMatchObject({ open: 0, executing: 0 });
    },
  );
});
