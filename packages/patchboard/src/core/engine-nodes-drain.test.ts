import { describe, expect, it } from 'vitest';
import { aPrincipal, aServerTool, manualTool } from '../../test/support/an-engine.ts';
import { me, PARIS, returning } from '../../test/support/asking-tools.ts';
import { engineNodes, submitTo } from '../../test/support/engine-nodes.ts';
import { settled } from '../../test/support/fake-clock.ts';

const operator = aPrincipal({ kind: 'operator', id: 'operator', agentId: 'operator' });
const phone = aPrincipal({ clientId: 'phone' });
const CAMERA = { name: 'camera', schema: { type: 'object' }, timeout_ms: 600_000 };
const result = { status: 'SUCCEEDED', result: 1, error: null, attemptToken: null } as const;

describe.each([
  ['with notifications', true],
  ['with all notifications lost', false],
])('a node that drains, %s', (_name, notifies) => {
  it('lets running calls end, seals what is left, and hands over what waits', async () => {
    const slow = manualTool('slow');
    const risky = aServerTool({ name: 'risky', annotations: { destructive: true } });
    const { a, b, clock, heal, stateOf, store } = await engineNodes(
      (index) => ({
        tools: [slow.tool, risky, returning()],
        limits: index === 0 ? { concurrencyServer: 3, drainMs: 1_000 } : {},
      }),
      { notifies },
    );
    for (const { engine } of [a, b]) await engine.clientTools.register('default', 'phone', [CAMERA]);
    const ask = await submitTo(a, { toolName: 'ask' });
    const [ends, stuck, , queued] = [
      await submitTo(a, { toolName: 'slow', runId: 'run_1' }),
      await submitTo(a, { toolName: 'slow', runId: 'run_2' }),
      await submitTo(a, { toolName: 'slow', runId: 'run_3' }),
      await submitTo(a, { toolName: 'slow', runId: 'run_4' }),
    ];
    const approval = await submitTo(a, { toolName: 'risky' });
    const camera = await submitTo(a, { toolName: 'camera' });
    await a.engine.clients.acknowledge(phone, camera.id, null);

    const draining = a.engine.drain();
    await settled();
    slow.running.get(ends.id)?.resolve('done');
    if (!notifies) await b.peers.poll();
    await settled();
    // It runs at the other node before the drain is over.
    expect(await stateOf(queued)).toBe('EXECUTING');
    await clock.advance(1_000);
    await draining;
    await heal();
    expect([await stateOf(ends), await stateOf(stuck)]).toEqual(['COMPLETED', 'SEALED']);
    expect([a.engine.load().open, b.engine.load().open]).toEqual([0, 4]);

    const decision = { decision: 'allow', digest: approval.approval?.digest ?? '', note: null } as const;
    expect(await b.engine.calls.decide(operator, approval.id, decision)).toMatchObject({ ok: true });
    expect(await b.engine.calls.respond(me, ask.id, PARIS)).toMatchObject({ ok: true });
    expect(await b.engine.clients.submit(phone, camera.id, result)).toMatchObject({ ok: true });
    slow.running.get(queued.id)?.resolve('done');
    await settled();
    for (const { id } of [approval, ask, camera, queued]) expect(await stateOf({ id })).toBe('COMPLETED');
    const ends4 = [...a.ended, ...b.ended];
    expect(new Set(ends4).size).toBe(ends4.length);
    expect(
      (await store.findCall(queued.id))?.timeline.filter(({ attempt }) => attempt !== undefined),
    ).toHaveLength(1);
  });

  it('ends the deadline of a handed-over call at the other node only', async () => {
    const risky = aServerTool({ name: 'risky', annotations: { destructive: true } });
    const { a, b, clock, stateOf } = await engineNodes({ tools: [risky] }, { notifies });
    const call = await submitTo(a, { toolName: 'risky' });
    await a.engine.drain();
    await clock.advance(24 * 3_600_000);
    expect(await stateOf(call)).toBe('DENIED');
    expect([a.ended, b.ended]).toEqual([[], [call.id]]);
  });
});
