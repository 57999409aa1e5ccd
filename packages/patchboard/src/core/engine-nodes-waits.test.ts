import { describe, expect, it, vi } from 'vitest';
import { aPrincipal, aServerTool, manualTool } from '../../test/support/an-engine.ts';
import { CITY, holding, me, PARIS, returning } from '../../test/support/asking-tools.ts';
import { engineNodes, submitTo } from '../../test/support/engine-nodes.ts';
import { settled } from '../../test/support/fake-clock.ts';
import { InputRequired } from './call/input.ts';
import { attemptToken } from './devices/request-id.ts';

const phone = aPrincipal({ clientId: 'phone' });
const CAMERA = { name: 'camera', schema: { type: 'object' } };

describe.each([
  ['with notifications', true],
  ['with all notifications lost', false],
])('a wait at another node, %s', (_name, notifies) => {
  it('returns the call when it has ended', async () => {
    const { tool, running } = manualTool('slow');
    const { nodes, a, heal } = await engineNodes({ tools: [tool] }, { count: 3, notifies });
    const call = await submitTo(a, { toolName: 'slow' });
    const waiting = nodes.map(({ engine }) => engine.calls.wait(me, call.id, 4_000));
    await settled();
    running.get(call.id)?.resolve('done');
    await heal();
    for (const ended of waiting) expect((await ended)?.state.name).toBe('COMPLETED');
    expect(nodes.map(({ ended }) => ended)).toEqual([[call.id], [], []]);
  });

  it('returns the call as it is when its time is over', async () => {
    const { tool } = manualTool('slow');
    const { a, b, clock } = await engineNodes({ tools: [tool] }, { notifies });
    const call = await submitTo(a, { toolName: 'slow' });
    const waiting = b.engine.calls.wait(me, call.id, 1_000);
    await settled();
    expect([...b.peers.watched().awaited]).toMatchObject([{ id: call.id }]);
    await clock.advance(1_000);
    expect((await waiting)?.state.name).toBe('EXECUTING');
    expect([...b.peers.watched().awaited]).toEqual([]);
  });

  it('returns a call that ended between the first read and the registration', async () => {
    const { tool, running } = manualTool('slow');
    const { a, b, store } = await engineNodes({ tools: [tool] }, { notifies });
    const { id } = await submitTo(a, { toolName: 'slow' });
    const open = await store.findCall(id);
    // The read of the wait returns the row as it was, and the call ends before the wait is registered.
    const reads = vi.spyOn(store, 'findCall').mockImplementationOnce(async () => {
      running.get(id)?.resolve('done');
      await settled();
      return open;
    });
    expect((await b.engine.calls.wait(me, id, 60_000))?.state.name).toBe('COMPLETED');
    reads.mockRestore();
  });

  it.each([0, 1])(
    'returns a call that asked between the read and the registration, at node %i',
    async (at) => {
      let ask = (): void => {};
      const tool = returning({
        execute: () => new Promise((resolve) => (ask = () => resolve(new InputRequired({ city: CITY })))),
      });
      const { a, nodes, store } = await engineNodes({ tools: [tool] }, { notifies });
      const { id } = await submitTo(a, { toolName: 'ask' });
      const executing = await store.findCall(id);
      const reads = vi.spyOn(store, 'findCall').mockImplementationOnce(async () => {
        ask();
        await settled();
        return executing;
      });
      const waiting = nodes[at]!.engine.calls.wait(me, id, 60_000, { untilInput: true });
      const held = settled()
        .then(settled)
        .then(() => 'held');
      expect(await Promise.race([waiting, held])).toMatchObject({ state: { name: 'INPUT_REQUIRED' } });
      reads.mockRestore();
    },
  );

  it.each([
    ['held', holding()],
    ['returned', returning()],
  ])('ends when the tool asks for input that is %s, and goes on after the response', async (_kind, tool) => {
    let open: () => void = () => undefined;
    const opened = new Promise<void>((resolve) => void (open = resolve));
    const gated = {
      ...tool,
      execute: async (...given: Parameters<typeof tool.execute>) => {
        await opened;
        return await tool.execute(...given);
      },
    };
    const { a, b, heal } = await engineNodes({ tools: [gated] }, { notifies });
    const call = await submitTo(a, { toolName: 'ask' });
    const asking = b.engine.calls.wait(me, call.id, 60_000, { untilInput: true });
    await settled();
    open();
    await heal();
    expect((await asking)?.state.name).toBe('INPUT_REQUIRED');
    const ending = b.engine.calls.wait(me, call.id, 60_000);
    await settled();
    expect(await a.engine.calls.respond(me, call.id, PARIS)).toMatchObject({ ok: true });
    await heal();
    expect((await ending)?.state.name).toBe('COMPLETED');
  });

  it('of a client for the response of its caller ends when the response has come to a third node', async () => {
    const { nodes, a, b, heal, store } = await engineNodes({}, { count: 3, notifies });
    for (const { engine } of nodes) await engine.clientTools.register('default', 'phone', [CAMERA]);
    const { id } = await submitTo(a, { toolName: 'camera' });
    const token = attemptToken((await store.findCall(id))!) ?? '';
    const asked = { key: 'k', attemptToken: token, request: { message: 'Which?', schema: {} } };
    expect(await a.engine.clientInputs.request(phone, id, asked)).toMatchObject({ ok: true });
    const waiting = b.engine.clientInputs.requestAndWait(phone, id, asked, 60_000);
    await settled();
    expect(await nodes[2]!.engine.calls.respond(me, id, { ...PARIS, content: 1 })).toMatchObject({
      ok: true,
    });
    await heal();
    await heal();
    expect(await waiting).toMatchObject({ ok: true, round: { response: { action: 'accept' } } });
  });
});

describe('a read at a node', () => {
  it('returns the row of another node, also of a call that is live here', async () => {
    const { tool } = manualTool('slow');
    const { a, b } = await engineNodes({ tools: [tool] }, { notifies: false });
    const call = await submitTo(a, { toolName: 'slow' });
    expect(await b.engine.calls.cancel(me, call.id)).toMatchObject({ ok: true });
    expect((await a.engine.calls.find(me, call.id))?.state.name).toBe('CANCELLED');
  });
});

describe('a look at a call', () => {
  it('does not take the result of a move of this node for one of another node', async () => {
    const { tool, running } = manualTool('slow');
    const { a, store } = await engineNodes({ tools: [tool] });
    const { id } = await submitTo(a, { toolName: 'slow' });
    // The end is stored, and its continuation has not run, when the poll compares the call with the store.
    let resume: () => void = () => undefined;
    const resumed = new Promise<void>((resolve) => void (resume = resolve));
    const replace = store.replaceCall.bind(store);
    vi.spyOn(store, 'replaceCall').mockImplementationOnce(async (...given) => {
      const replaced = await replace(...given);
      await resumed;
      return replaced;
    });
    running.get(id)?.resolve('done');
    await settled();
    const polled = a.peers.poll();
    await settled();
    resume();
    await polled;
    await settled();
    expect(a.ended).toEqual([id]);
  });
});

describe('a call that comes back to a node which did not hear that it was gone', () => {
  it('goes on there', async () => {
    const risky = aServerTool({ name: 'risky', annotations: { destructive: true } });
    const { a, b, store, stateOf } = await engineNodes({ tools: [risky] }, { notifies: false });
    const call = await submitTo(a, { toolName: 'risky' });
    const taken = { ...(await store.findCall(call.id))!, version: call.version + 2 };
    // Another node had the call, and is gone.
    await store.replaceCall(taken, call.version, []);
    await a.peers.orphaned(
      (async function* () {
        yield taken;
      })(),
    );
    expect([...a.peers.watched().held]).toMatchObject([{ id: call.id, version: taken.version }]);
    await b.engine.calls.cancel(me, call.id);
    expect(await stateOf(call)).toBe('CANCELLED');
  });
});
