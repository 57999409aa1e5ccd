import { describe, expect, it } from 'vitest';
import { accepted, aPrincipal, aRequest, aServerTool } from '../../test/support/an-engine.ts';
import { me, PARIS, returning } from '../../test/support/asking-tools.ts';
import { engineNodes, type EngineNode, type EngineNodes } from '../../test/support/engine-nodes.ts';
import { settled } from '../../test/support/fake-clock.ts';
import type { Call } from './call/call.ts';
import type { InProcessCaller } from './call/live-call.ts';

const operator = aPrincipal({ kind: 'operator', id: 'operator', agentId: 'operator' });

/** An agent whose hook replaces the result of each call. */
function anAgent(): InProcessCaller {
  return {
    hooks: [{ postToolUse: () => ({ update: { result: 'seen by the hook' } }) }],
    agent: undefined,
  };
}

async function submit({ engine }: EngineNode, toolName: string, args = {}): Promise<Call> {
  const request = { ...aRequest({ toolName, args }), caller: anAgent() };
  const call = accepted(await engine.submit(request, me));
  await settled();
  return call;
}

function approved(call: Call, args?: unknown): Parameters<EngineNode['engine']['calls']['decide']>[2] {
  const edit = args === undefined ? {} : { edit: { args } };
  return { decision: 'allow', digest: call.approval?.digest ?? '', note: null, ...edit };
}

/** Nodes with a tool that requires approval. `ran`: the node of each of its runs. */
async function riskyNodes(
  options: Parameters<typeof engineNodes>[1],
): Promise<EngineNodes & { readonly ran: readonly number[] }> {
  const ran: number[] = [];
  const nodes = await engineNodes(
    (index) => ({
      tools: [
        aServerTool({
          name: 'risky',
          annotations: { destructive: true },
          execute: () => void ran.push(index),
        }),
      ],
    }),
    options,
  );
  return { ...nodes, ran };
}

describe.each([
  ['with notifications', true],
  ['with all notifications lost', false],
])('a call with hooks of an agent at one node, %s', (_name, notifies) => {
  it('that another node approves runs at its own node, with the hooks', async () => {
    const { a, b, store, heal, ran } = await riskyNodes({ notifies });
    const call = await submit(a, 'risky', { n: 1 });
    const waiting = [a, b].map(({ engine }) => engine.calls.wait(me, call.id, 60_000));
    await settled();
    const decisions = [approved(call, { n: 2 }), approved(call)];
    const decided = await Promise.all(
      decisions.map((decision) => b.engine.calls.decide(operator, call.id, decision)),
    );
    expect(decided.filter(({ ok }) => ok)).toHaveLength(1);
    await heal();
    await heal();
    expect(ran).toEqual([0]);
    expect((await store.findCall(call.id))?.state).toMatchObject({
      name: 'COMPLETED',
      resultJson: '"seen by the hook"',
    });
    for (const ended of waiting) expect((await ended)?.state.name).toBe('COMPLETED');
    expect([a.ended, b.ended]).toEqual([[call.id], []]);
  });

  it('is decided by one of both nodes that decide at once, and runs once', async () => {
    const { nodes, a, heal, stateOf, ran } = await riskyNodes({ notifies, count: 3 });
    const call = await submit(a, 'risky');
    const decided = await Promise.all(
      nodes.map(({ engine }) => engine.calls.decide(operator, call.id, approved(call))),
    );
    expect(decided.filter(({ ok }) => ok)).toHaveLength(1);
    await heal();
    await heal();
    expect(await stateOf(call)).toBe('COMPLETED');
    expect(ran).toEqual([0]);
  });

  it('continues at its own node after a response at another one', async () => {
    const tools = [returning(), returning()];
    const { a, b, heal, store } = await engineNodes((index) => ({ tools: [tools[index]!] }), { notifies });
    const call = await submit(a, 'ask');
    const asked = (await store.findCall(call.id))?.inputs.at(-1);
    const given = { ...PARIS, id: asked?.id ?? '' };
    expect(await b.engine.calls.respond(me, call.id, given)).toMatchObject({ ok: true });
    expect(await a.engine.calls.respond(me, call.id, given)).toMatchObject({ ok: false });
    await heal();
    await heal();
    expect(tools.map(({ runs }) => runs.length)).toEqual([2, 0]);
    expect((await store.findCall(call.id))?.state).toMatchObject({
      name: 'COMPLETED',
      resultJson: '"seen by the hook"',
    });
  });

  it('is denied or cancelled by another node, which stops it', async () => {
    const tool = aServerTool({ name: 'risky', annotations: { destructive: true } });
    const { a, b, heal, stateOf } = await engineNodes({ tools: [tool] }, { notifies });
    const [denied, cancelled] = [await submit(a, 'risky'), await submit(a, 'risky')];
    await b.engine.calls.decide(operator, denied.id, { ...approved(denied), decision: 'deny' });
    await b.engine.calls.cancel(me, cancelled.id);
    await heal();
    expect([await stateOf(denied), await stateOf(cancelled)]).toEqual(['DENIED', 'CANCELLED']);
    expect(a.engine.load().open).toBe(0);
  });

  it('is recovered by another node when its own is gone, as after a restart', async () => {
    const { a, b, heal, stateOf, store, ran } = await riskyNodes({ notifies });
    const call = await submit(a, 'risky');
    a.peers.fence('gone');
    expect(await b.engine.calls.decide(operator, call.id, approved(call))).toMatchObject({ ok: true });
    await heal();
    expect(await stateOf(call)).toBe('APPROVED');
    await b.peers.orphaned(store.openCalls());
    await heal();
    expect(await stateOf(call)).toBe('COMPLETED');
    expect(ran).toEqual([1]);
  });
});
