import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { accepted, anEngine, aPrincipal, aRequest, aServerTool } from '../../test/support/an-engine.ts';
import { holding, me, PARIS, returning } from '../../test/support/asking-tools.ts';
import { delayingStore } from '../../test/support/delaying-store.ts';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { twoNodes, type TestPeers } from '../../test/support/two-nodes.ts';
import { nodeDigest } from '../runtime/digest.ts';
import { memoryStore } from '../store/memory/memory-store.ts';
import { isOpen } from './call/call.ts';
import type { Engine } from './engine.ts';
import { verifyLedger } from './ledger/ledger-check.ts';

const operator = aPrincipal({ kind: 'operator', id: 'operator', agentId: 'operator' });
const phone = aPrincipal({ clientId: 'phone' });
const TOOLS = ['plain', 'risky', 'held', 'returned', 'camera'] as const;

const steps = fc.array(
  fc.record({
    node: fc.integer({ min: 0, max: 1 }),
    act: fc.constantFrom('allow', 'deny', 'cancel', 'respond', 'acknowledge', 'submit'),
    call: fc.nat({ max: 7 }),
    waits: fc.boolean(),
  }),
  { minLength: 4, maxLength: 24 },
);
const calls = fc.array(fc.record({ node: fc.integer({ min: 0, max: 1 }), tool: fc.constantFrom(...TOOLS) }), {
  minLength: 1,
  maxLength: 8,
});
const delays = fc.array(fc.integer({ min: 0, max: 6 }), { minLength: 1, maxLength: 9 });

const FOUND_BEFORE = {
  seed: -640118674,
  path: '95:3:2:2:9:13:2:12:12:18:18:18:11:11:12:12:12:12:11:11:11:11:11:11:11:12:13:12:12',
};

interface Node {
  readonly engine: Engine;
  readonly peers: TestPeers;
}

describe('two nodes over one store', () => {
  it('end each call once and run it at most once, whichever node acts on it, with or without notifications', async () => {
    const property = fc.asyncProperty(
      calls,
      steps,
      delays,
      fc.boolean(),
      async (submitted, acts, turns, notifies) => {
        const store = memoryStore({ digest: nodeDigest });
        const clock = new FakeClock();
        const shared = twoNodes(store);
        const delayed = [shared.a, shared.b].map((node) => delayingStore(node.store, turns));
        const idle = async (): Promise<void> => {
          for (const { idle: isIdle } of [...delayed, ...delayed]) await isIdle();
        };
        const ran: string[] = [];
        const ended: string[] = [];
        const tools = [
          aServerTool({ name: 'plain', execute: (_args, { callId }) => void ran.push(callId) }),
          aServerTool({
            name: 'risky',
            annotations: { destructive: true },
            execute: (_args, { callId }) => void ran.push(callId),
          }),
          holding({ name: 'held' }),
          returning({ name: 'returned' }),
        ];
        const nodes: Node[] = [];
        for (const [index, { peers }] of [shared.a, shared.b].entries()) {
          peers.notifies = notifies;
          const { engine } = await anEngine({ tools, clock, peers, store: delayed[index]!.store });
          engine.onEnded(({ id }) => ended.push(id));
          await engine.clientTools.register('default', 'phone', [
            { name: 'camera', schema: { type: 'object' } },
          ]);
          nodes.push({ engine, peers });
        }
        const ids: string[] = [];
        for (const { node, tool } of submitted) {
          const request = aRequest({ toolName: tool, runId: `run_${ids.length}` });
          ids.push(accepted(await nodes[node]!.engine.submit(request, me)).id);
        }
        const acting: Promise<unknown>[] = [];
        for (const { node, act, call, waits } of acts) {
          acting.push(actOn(nodes[node]!.engine, act, ids[call % ids.length]!));
          if (waits) await idle();
        }
        await Promise.all(acting);
        for (const id of ids) await nodes[0]!.engine.calls.cancel(me, id);
        await idle();
        // What a node reads when its notifications were lost.
        for (const { peers } of nodes)
          for (const id of ids) peers.refresh(id, (await store.findCall(id))?.version ?? 0);
        await idle();
        for (const id of ids) expect(isOpen((await store.findCall(id))!)).toBe(false);
        expect(ended.toSorted()).toEqual(ids.toSorted());
        expect(new Set(ran).size).toBe(ran.length);
        for (const { engine } of nodes) expect(engine.load()).toMatchObject({ open: 0, executing: 0 });
        expect(await verifyLedger(store, nodeDigest)).toMatchObject({ ok: true });
      },
    );
    await fc.assert(property, { numRuns: 150 });
    // Failed once: an adopted call lost against a borrowed move of the same node that ended it, and both reported the end.
    await fc.assert(property, FOUND_BEFORE);
  });
});

async function actOn(engine: Engine, act: string, id: string): Promise<unknown> {
  const result = { status: 'SUCCEEDED', result: 1, error: null, attemptToken: null } as const;
  switch (act) {
    case 'allow':
    case 'deny': {
      const call = await engine.calls.find(operator, id);
      const digest = call?.approval?.digest ?? '';
      return await engine.calls.decide(operator, id, { decision: act, digest, note: null });
    }
    case 'cancel':
      return await engine.calls.cancel(me, id);
    case 'respond':
      return await engine.calls.respond(me, id, PARIS);
    case 'acknowledge':
      return await engine.clients.acknowledge(phone, id, null);
    default:
      return await engine.clients.submit(phone, id, result);
  }
}
