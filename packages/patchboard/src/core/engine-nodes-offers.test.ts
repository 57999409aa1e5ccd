import { describe, expect, it } from 'vitest';
import { accepted, anAgentHandle, aRequest, aServerTool, manualTool } from '../../test/support/an-engine.ts';
import { me } from '../../test/support/asking-tools.ts';
import { engineNodes, submitTo, type EngineNodes } from '../../test/support/engine-nodes.ts';
import type { Limits } from './limits.ts';
import type { ServerTool } from './tools/server-tool.ts';

const ONE: Partial<Limits> = { concurrencyServer: 1 };

/** A node with one slot, and others with more. */
async function crowded(
  notifies: boolean,
  given: { tools?: readonly ServerTool[]; ofB?: readonly ServerTool[]; limits?: Partial<Limits> } = {},
): Promise<EngineNodes & ReturnType<typeof manualTool>> {
  const manual = manualTool('slow', { concurrency: null });
  const tools = given.tools ?? [manual.tool];
  const nodes = await engineNodes(
    (index) => ({
      tools: index === 0 ? tools : (given.ofB ?? tools),
      limits: index === 0 ? (given.limits ?? ONE) : {},
    }),
    { notifies },
  );
  return { ...nodes, ...manual };
}

function heldBy({ nodes }: EngineNodes): number[] {
  return nodes.map(({ engine }) => engine.load().executing);
}

describe.each([
  ['with notifications', true],
  ['with all notifications lost', false],
])('calls that wait for a slot, %s', (_name, notifies) => {
  it.each([
    ['server', ONE],
    ['tenant', { concurrencyPerTenant: 1 }],
  ])('of the %s run at a node with room after 100 ms, each once', async (_kind, limits) => {
    const nodes = await crowded(notifies, { limits });
    const { a, b, clock, heal, running, stateOf } = nodes;
    const calls = [];
    for (let count = 0; count < 4; count += 1)
      calls.push(await submitTo(a, { toolName: 'slow', runId: `run_${count}` }));
    await clock.advance(90);
    await heal();
    expect(heldBy(nodes)).toEqual([1, 0]);
    await clock.advance(130);
    await heal();
    expect([heldBy(nodes), running.size]).toEqual([[1, 3], 4]);
    for (const { id } of calls) running.get(id)?.resolve('done');
    await heal();
    for (const call of calls) expect(await stateOf(call)).toBe('COMPLETED');
    expect([a.ended.length, b.ended.length]).toEqual([1, 3]);
    expect(nodes.nodes.map(({ engine }) => engine.load())).toMatchObject([
      { open: 0, waitingForSlot: 0 },
      { open: 0, waitingForSlot: 0 },
    ]);
  });

  it('run once if a slot becomes free here at the same time', async () => {
    const nodes = await crowded(notifies);
    const first = await submitTo(nodes.a, { toolName: 'slow', runId: 'run_1' });
    const second = await submitTo(nodes.a, { toolName: 'slow', runId: 'run_2' });
    nodes.a.peers.notifies = false;
    await nodes.clock.advance(220);
    const taking = nodes.b.peers.takeOffered();
    nodes.running.get(first.id)?.resolve('done');
    await taking;
    await nodes.heal();
    const attempts = (await nodes.store.findCall(second.id))?.timeline.filter(
      ({ state }) => state === 'EXECUTING',
    );
    expect([attempts?.length, heldBy(nodes).reduce((sum, held) => sum + held, 0)]).toEqual([1, 1]);
  });

  it('of their run stay', async () => {
    const nodes = await crowded(notifies, { limits: { concurrencyPerRun: 1 } });
    for (let count = 0; count < 3; count += 1) await submitTo(nodes.a, { toolName: 'slow' });
    await nodes.clock.advance(1_000);
    await nodes.heal();
    expect([nodes.a.peers.offers, heldBy(nodes)]).toEqual([[], [1, 0]]);
  });

  it('stay if the other node has another version of the tool, or no room', async () => {
    const other = aServerTool({
      name: 'slow',
      description: 'another contract',
      inputSchema: { type: 'object', properties: {} },
    });
    const without = await crowded(notifies, { ofB: [other] });
    const full = await crowded(notifies);
    for (let count = 0; count < 64; count += 1)
      await submitTo(full.b, { toolName: 'slow', runId: `run_${count}` });
    for (const nodes of [without, full]) {
      const before = heldBy(nodes)[1];
      for (let count = 0; count < 2; count += 1)
        await submitTo(nodes.a, { toolName: 'slow', runId: `run_a_${count}` });
      await nodes.clock.advance(1_000);
      await nodes.heal();
      expect([nodes.a.peers.offers.length, heldBy(nodes)]).toEqual([1, [1, before]]);
    }
  });

  it('stay if they need an agent or files of this process', async () => {
    const manual = manualTool('slow');
    const nodes = await crowded(notifies, {
      tools: [manual.tool, { ...manual.tool, name: 'shell', sandbox: 'bubblewrap' }],
    });
    await submitTo(nodes.a, { toolName: 'slow', runId: 'run_1' });
    const caller = { hooks: [], agent: anAgentHandle('writer') };
    accepted(await nodes.a.engine.submit({ ...aRequest({ toolName: 'slow', runId: 'run_2' }), caller }, me));
    await submitTo(nodes.a, { toolName: 'shell', runId: 'run_3' });
    await nodes.clock.advance(1_000);
    expect(nodes.a.peers.offers).toEqual([]);
  });
});
