import { describe, expect, it } from 'vitest';
import { aPrincipal, aServerTool, manualTool } from '../../test/support/an-engine.ts';
import { holding, me } from '../../test/support/asking-tools.ts';
import { engineNodes, submitTo } from '../../test/support/engine-nodes.ts';
import { settled } from '../../test/support/fake-clock.ts';
import { NO_WORKSPACES, type RunScope, type Workspaces } from './workspaces.ts';

const CAMERA = { name: 'camera', schema: { type: 'object' } };
const operator = aPrincipal({ kind: 'operator', id: 'operator', agentId: 'operator' });

/** Workspaces with a background job in one run. */
function workspacesWith(job: RunScope | null): Workspaces & { readonly ended: RunScope[] } {
  const ended: RunScope[] = [];
  return {
    ...NO_WORKSPACES,
    ended,
    withJobs: () => (job === null || ended.length > 0 ? [] : [job]),
    endRun: async (scope) => void ended.push(scope),
  };
}

describe.each([
  ['with notifications', true],
  ['with all notifications lost', false],
])('the cancel of a run at one node, %s', (_name, notifies) => {
  it('cancels its open calls on all nodes, each once, and stops their work', async () => {
    const slow = manualTool('slow');
    const tools = [slow.tool, holding(), aServerTool({ name: 'risky', annotations: { destructive: true } })];
    const { nodes, a, heal, stateOf } = await engineNodes({ tools }, { count: 3, notifies });
    for (const { engine } of nodes) await engine.clientTools.register('default', 'phone', [CAMERA]);
    const ids: string[] = [];
    for (const [index, toolName] of ['slow', 'ask', 'risky', 'camera', 'slow'].entries())
      ids.push((await submitTo(nodes[index % 3]!, { toolName, runId: 'run_x' })).id);
    const other = await submitTo(nodes[1]!, { toolName: 'slow', runId: 'run_y' });
    const cancelled = await a.engine.runs.cancel(me, 'run_x');
    expect(cancelled).toMatchObject({ ok: true });
    expect(cancelled.ok ? cancelled.value.cancelled.toSorted() : []).toEqual(ids.toSorted());
    await heal();
    for (const id of ids) expect(await stateOf({ id })).toBe('CANCELLED');
    expect(await stateOf(other)).toBe('EXECUTING');
    expect(nodes.flatMap(({ ended }) => ended).toSorted()).toEqual(ids.toSorted());
    expect(nodes.map(({ engine }) => engine.load().executing)).toEqual([0, 1, 0]);
    expect(slow.running.get(ids[0]!)?.context.signal.aborted).toBe(true);
    expect(await submit(nodes[2]!, 'run_x')).toBe('refused');
  });

  it('ends the background jobs of its workspace on another node', async () => {
    const scope = { tenant: 'default', runId: 'run_x' };
    const workspaces = [workspacesWith(null), workspacesWith(scope)];
    const sandboxed = aServerTool({ name: 'shell', sandbox: 'bubblewrap' });
    const { a, b, clock } = await engineNodes(
      (index) => ({ tools: [sandboxed], workspaces: workspaces[index]! }),
      { notifies },
    );
    await submitTo(b, { toolName: 'shell', runId: 'run_x' });
    await a.engine.runs.cancel(operator, 'run_x');
    await settled();
    if (!notifies) await clock.advance(6_000);
    expect(workspaces[1]!.ended).toEqual([scope]);
  });
});

async function submit({ engine }: { engine: Parameters<typeof submitTo>[0]['engine'] }, runId: string) {
  return (await engine.submit({ toolName: 'slow', runId, args: {} }, me)).kind;
}
