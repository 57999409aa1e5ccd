import { describe, expect, it } from 'vitest';
import { accepted, aPrincipal, aRequest, aServerTool, manualTool } from '../../test/support/an-engine.ts';
import { me } from '../../test/support/asking-tools.ts';
import { engineNodes, submitTo } from '../../test/support/engine-nodes.ts';
import { settled } from '../../test/support/fake-clock.ts';

const operator = aPrincipal({ kind: 'operator', id: 'operator', agentId: 'operator' });

describe.each([
  ['with notifications', true],
  ['with all notifications lost', false],
])('a request at another node, %s', (_name, notifies) => {
  it('with the same idempotency key returns the one call as it is stored, and waits for it', async () => {
    const { tool, running } = manualTool('slow');
    const { nodes, a, b, heal } = await engineNodes({ tools: [tool] }, { notifies, count: 3 });
    const request = { ...aRequest({ toolName: 'slow' }), idempotencyKey: 'k' };
    const submitted = await Promise.all(nodes.map(({ engine }) => engine.submit(request, me)));
    const ids = new Set(submitted.map((one) => accepted(one).id));
    expect([ids.size, running.size]).toEqual([1, 1]);
    const [id = ''] = ids;
    const waiting = nodes.map(({ engine }) => engine.calls.wait(me, id, 60_000));
    await settled();
    await b.engine.calls.cancel(me, id);
    // The node that recorded the call may not have heard of its end yet.
    expect(accepted(await a.engine.submit(request, me))).toMatchObject({ id, state: { name: 'CANCELLED' } });
    await heal();
    for (const ended of waiting) expect((await ended)?.state.name).toBe('CANCELLED');
    const other = { ...request, args: { n: 2 } };
    expect(await nodes[2]!.engine.submit(other, me)).toMatchObject({ kind: 'refused' });
  });

  it('edits the arguments of a call that waits for approval, once', async () => {
    const seen: unknown[] = [];
    const risky = aServerTool({
      name: 'risky',
      annotations: { destructive: true },
      execute: (args) => void seen.push(args),
    });
    const { nodes, a, heal, stateOf } = await engineNodes({ tools: [risky] }, { notifies, count: 3 });
    const call = await submitTo(a, { toolName: 'risky', args: { n: 1 } });
    const decide = (n: number): Promise<{ readonly ok: boolean }> =>
      nodes[n]!.engine.calls.decide(operator, call.id, {
        decision: 'allow',
        digest: call.approval?.digest ?? '',
        note: null,
        edit: { args: { n } },
      });
    const decided = await Promise.all([decide(1), decide(2)]);
    expect(decided.filter(({ ok }) => ok)).toHaveLength(1);
    await heal();
    expect(await stateOf(call)).toBe('COMPLETED');
    expect(seen).toEqual([{ n: decided[0].ok ? 1 : 2 }]);
  });
});
