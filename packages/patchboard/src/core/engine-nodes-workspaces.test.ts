import { describe, expect, it } from 'vitest';
import { accepted, aPrincipal, aRequest, aServerTool } from '../../test/support/an-engine.ts';
import { me } from '../../test/support/asking-tools.ts';
import { engineNodes, submitTo, type EngineNodes } from '../../test/support/engine-nodes.ts';
import type { Call } from './call/call.ts';
import { NO_WORKSPACES } from './workspaces.ts';

const operator = aPrincipal({ kind: 'operator', id: 'operator', agentId: 'operator' });

interface Scene extends EngineNodes {
  /** Per node: the runs of the calls that its tool ran. */
  readonly ran: readonly string[][];
}

/** Nodes with a sandboxed tool, and another that needs approval. `places`: one name for each node's files. */
async function aScene(notifies: boolean, places = ['a', 'b', 'c']): Promise<Scene> {
  const ran: string[][] = places.map(() => []);
  const nodes = await engineNodes(
    (index) => {
      const shell = aServerTool({
        name: 'shell',
        sandbox: 'bubblewrap',
        execute: (_args, { runId }) => void ran[index]?.push(runId),
      });
      return {
        tools: [shell, { ...shell, name: 'risky', annotations: { destructive: true } }],
        workspaces: { ...NO_WORKSPACES, place: places[index] ?? '' },
      };
    },
    { notifies, count: places.length },
  );
  return { ...nodes, ran };
}

async function ended({ store, heal }: EngineNodes, { id }: Call): Promise<Call | undefined> {
  await heal();
  return await store.findCall(id);
}

describe.each([
  ['with notifications', true],
  ['with all notifications lost', false],
])('the workspace of a run, %s', (_name, notifies) => {
  it('is at the node that used it first: calls at other nodes run there', async () => {
    const scene = await aScene(notifies);
    const { nodes, ran } = scene;
    for (const index of [1, 0, 2, 1]) {
      const call = await submitTo(nodes[index]!, { toolName: 'shell', runId: 'run_x' });
      const done = await ended(scene, call);
      expect(done?.state.name).toBe('COMPLETED');
      expect(done).not.toHaveProperty('workspace');
    }
    await ended(scene, await submitTo(nodes[2]!, { toolName: 'shell', runId: 'run_y' }));
    expect(ran).toEqual([[], ['run_x', 'run_x', 'run_x', 'run_x'], ['run_y']]);
    expect(nodes.map((node) => node.ended.length)).toEqual([0, 4, 1]);
  });

  it('is claimed by one of several nodes that use it at once', async () => {
    const scene = await aScene(notifies);
    const request = aRequest({ toolName: 'shell', runId: 'run_x' });
    const submitted = await Promise.all(scene.nodes.map(({ engine }) => engine.submit(request, me)));
    for (const one of submitted) expect((await ended(scene, accepted(one)))?.state.name).toBe('COMPLETED');
    expect(scene.ran.map((runs) => runs.length).toSorted((a, b) => a - b)).toEqual([0, 0, 3]);
  });

  it('gets a call that was approved at another node, and wakes the request that waits for it', async () => {
    const scene = await aScene(notifies);
    const { a, b, nodes, ran, heal } = scene;
    await ended(scene, await submitTo(a, { toolName: 'shell', runId: 'run_x' }));
    const call = await submitTo(b, { toolName: 'risky', runId: 'run_x' });
    const waiting = b.engine.calls.wait(me, call.id, 60_000);
    await nodes[2]!.engine.calls.decide(operator, call.id, {
      decision: 'allow',
      digest: call.approval?.digest ?? '',
      note: null,
    });
    await heal();
    await heal();
    expect((await waiting)?.state.name).toBe('COMPLETED');
    expect(ran).toEqual([['run_x', 'run_x'], [], []]);
  });

  it('moves when its node is gone: the record of the first call that begins then says that the files are new', async () => {
    const scene = await aScene(notifies);
    const { a, b, nodes, ran } = scene;
    await ended(scene, await submitTo(a, { toolName: 'shell', runId: 'run_x' }));
    a.peers.leased = false;
    const risky = await submitTo(b, { toolName: 'risky', runId: 'run_x' });
    await b.engine.calls.cancel(me, risky.id);
    const first = await ended(scene, await submitTo(b, { toolName: 'shell', runId: 'run_x' }));
    const second = await ended(scene, await submitTo(nodes[2]!, { toolName: 'shell', runId: 'run_x' }));
    expect([first?.workspace, second?.workspace]).toEqual(['new', undefined]);
    expect(ran).toEqual([['run_x'], ['run_x', 'run_x'], []]);
  });

  it('moves once for several calls that wait for it: the record says that the files are new', async () => {
    const scene = await aScene(notifies);
    const { a, b } = scene;
    await ended(scene, await submitTo(a, { toolName: 'shell', runId: 'run_x' }));
    a.peers.leased = false;
    const request = aRequest({ toolName: 'shell', runId: 'run_x' });
    const submitted = await Promise.all([b.engine.submit(request, me), b.engine.submit(request, me)]);
    const calls = await Promise.all(submitted.map((one) => ended(scene, accepted(one))));
    expect(calls.map((call) => call?.state.name)).toEqual(['COMPLETED', 'COMPLETED']);
    expect(calls.map((call) => call?.workspace)).toContain('new');
    expect(await ended(scene, await submitTo(b, { toolName: 'shell', runId: 'run_x' }))).not.toHaveProperty(
      'workspace',
    );
  });

  it('moves when its node leaves: later calls of the run at that node run at the new home', async () => {
    const scene = await aScene(notifies);
    const { a, b, ran } = scene;
    await ended(scene, await submitTo(a, { toolName: 'shell', runId: 'run_x' }));
    a.peers.isLeaving = true;
    const before = await ended(scene, await submitTo(a, { toolName: 'shell', runId: 'run_x' }));
    const first = await ended(scene, await submitTo(b, { toolName: 'shell', runId: 'run_x' }));
    const later = await ended(scene, await submitTo(a, { toolName: 'shell', runId: 'run_x' }));
    expect([before, first, later].map((call) => call?.state.name)).toEqual(Array(3).fill('COMPLETED'));
    expect([before, first, later].map((call) => call?.workspace)).toEqual([undefined, 'new', undefined]);
    expect(ran).toEqual([['run_x', 'run_x'], ['run_x', 'run_x'], []]);
  });

  it('keeps its files on a shared volume', async () => {
    const scene = await aScene(notifies, ['shared', 'shared']);
    const { a, b, ran } = scene;
    await ended(scene, await submitTo(a, { toolName: 'shell', runId: 'run_x' }));
    a.peers.leased = false;
    const call = await ended(scene, await submitTo(b, { toolName: 'shell', runId: 'run_x' }));
    expect([call?.state.name, call?.workspace]).toEqual(['COMPLETED', undefined]);
    expect(ran).toEqual([['run_x'], ['run_x']]);
  });

  it('is refused to an agent of another node, whose hooks are there, unless the volume is shared', async () => {
    const caller = { hooks: [{ preToolUse: () => ({ decision: 'allow' as const }) }], agent: undefined };
    for (const places of [
      ['a', 'b'],
      ['shared', 'shared'],
    ]) {
      const scene = await aScene(notifies, places);
      await ended(scene, await submitTo(scene.a, { toolName: 'shell', runId: 'run_x' }));
      const submitted = await scene.b.engine.submit(
        { ...aRequest({ toolName: 'shell', runId: 'run_x' }), caller },
        me,
      );
      const call = await ended(scene, accepted(submitted));
      if (places[0] === 'shared') expect(call?.state.name).toBe('COMPLETED');
      else
        expect(call?.state).toMatchObject({
          name: 'FAILED',
          error: { code: 'sandbox_unavailable', outcome: 'not_started' },
        });
    }
  });
});
