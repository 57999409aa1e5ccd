import { describe, expect, it, vi } from 'vitest';
import { accepted, anEngine, aPrincipal, aRequest, aServerTool } from '../../../test/support/an-engine.ts';
import { PARIS, returning } from '../../../test/support/asking-tools.ts';
import { settled } from '../../../test/support/fake-clock.ts';
import type { Call } from '../call/call.ts';
import { StorageUnavailable } from '../failures.ts';
import type { Store } from '../ports.ts';
import type { ServerTool } from '../tools/server-tool.ts';

const agent = aPrincipal();
const operator = aPrincipal({ kind: 'operator', id: 'olga', agentId: 'olga' });

async function waitingCall() {
  const execute = vi.fn(() => Promise.resolve('ran'));
  const tool = aServerTool({ name: 'toy.delete', annotations: { destructive: true }, execute });
  const fixture = await anEngine({ tools: [tool] });
  const submitted = await fixture.engine.submit(
    aRequest({ toolName: 'toy.delete', args: { path: 'x' } }),
    agent,
  );
  if (submitted.kind !== 'accepted') throw new Error('not accepted');
  const { call } = submitted;
  const digest = call.approval?.digest ?? '';
  const find = async (): Promise<Call> => (await fixture.engine.calls.find(agent, call.id))!;
  return { ...fixture, execute, call, digest, find };
}

describe('approvals', () => {
  it('runs once when allowed, with who and why on the record', async () => {
    const { engine, execute, call, digest, find } = await waitingCall();
    expect(call.state.name).toBe('APPROVAL_REQUIRED');
    expect(
      await engine.calls.decide(operator, call.id, { decision: 'allow', digest, note: 'fine' }),
    ).toMatchObject({ ok: true });
    await settled();
    expect(execute).toHaveBeenCalledTimes(1);
    const done = await find();
    expect(done.approval).toMatchObject({ decision: 'allow', decidedBy: 'olga', note: 'fine' });
    expect(done.timeline.map((entry) => entry.state)).toEqual([
      'PENDING',
      'APPROVAL_REQUIRED',
      'APPROVED',
      'EXECUTING',
      'COMPLETED',
    ]);
  });

  it('is denied with the words of the operator, and never runs', async () => {
    const { engine, execute, call, digest, find } = await waitingCall();
    await engine.calls.decide(operator, call.id, { decision: 'deny', digest, note: 'too risky' });
    await settled();
    expect(execute).not.toHaveBeenCalled();
    expect((await find()).state).toMatchObject({
      name: 'DENIED',
      error: { code: 'approval_denied', message: 'Permission denied by user', note: 'too risky' },
    });
  });

  it.each([
    ['allowed', 'allow', 1],
    ['denied', 'deny', 0],
  ] as const)('takes one of fifty racing decisions, and runs it once if it is %s', async (_, odd, runs) => {
    const { engine, execute, call, digest, find } = await waitingCall();
    const results = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        engine.calls.decide(operator, call.id, {
          decision: index % 2 === 0 ? 'allow' : odd,
          digest,
          note: String(index),
        }),
      ),
    );
    const winners = results.flatMap(({ ok }, index) => (ok ? [String(index)] : []));
    expect(winners).toHaveLength(1);
    await settled();
    expect((await find()).approval).toMatchObject({ decision: odd, note: winners[0] });
    expect(execute).toHaveBeenCalledTimes(runs);
  });

  it('refuses a digest that was not shown, and the requesting agent', async () => {
    const { engine, call, digest } = await waitingCall();
    expect(
      await engine.calls.decide(operator, call.id, { decision: 'allow', digest: 'else', note: null }),
    ).toMatchObject({ failure: { code: 'conflict' } });
    expect(
      await engine.calls.decide(agent, call.id, { decision: 'allow', digest, note: null }),
    ).toMatchObject({
      failure: { code: 'permission_denied' },
    });
  });

  it('expires, holds no slot meanwhile, and cannot be approved afterwards', async () => {
    const { engine, execute, clock, call, digest, find } = await waitingCall();
    expect(engine.load()).toMatchObject({
      open: 1,
      waitingForSlot: 0,
      waitingForApproval: 1,
      executing: 0,
    });
    await clock.advance(600_200);
    expect((await find()).state).toMatchObject({ name: 'DENIED', error: { code: 'approval_expired' } });
    expect(
      await engine.calls.decide(operator, call.id, { decision: 'allow', digest, note: null }),
    ).toMatchObject({
      failure: { code: 'conflict' },
    });
    expect(execute).not.toHaveBeenCalled();
  });

  it('does not run what was changed in the store after it was approved', async () => {
    const { engine, store, execute, call, digest, find } = await waitingCall();
    const findCall = store.findCall.bind(store);
    store.findCall = async (id) => {
      const stored = await findCall(id);
      return stored === undefined ? undefined : { ...stored, argsJson: '{"path":"y"}' };
    };
    await engine.calls.decide(operator, call.id, { decision: 'allow', digest, note: null });
    store.findCall = findCall;
    await settled();
    expect(execute).not.toHaveBeenCalled();
    expect((await find()).state).toMatchObject({ name: 'DENIED', error: { code: 'approval_denied' } });
  });

  /** The store as a later process finds it, in which the arguments of every call were changed. */
  function changedStore(store: Store): Store {
    const change = (call: Call): Call => ({ ...call, argsJson: '{"path":"y"}' });
    return new Proxy(store, {
      get: (target, name) => {
        if (name === 'findCall')
          return async (id: string) => {
            const call = await target.findCall(id);
            return call === undefined ? undefined : change(call);
          };
        if (name === 'openCalls')
          return async function* () {
            for await (const call of target.openCalls()) yield change(call);
          };
        const member = Reflect.get(target, name) as unknown;
        return typeof member === 'function' ? (member.bind(target) as unknown) : member;
      },
    });
  }

  const CHANGED = { name: 'FAILED', error: { code: 'approval_denied', outcome: 'unknown' } };

  /** An approved call of this tool that runs, or that has asked. */
  async function approvedCall(tool: ServerTool) {
    const fixture = await anEngine({ tools: [tool] });
    const { id, approval } = accepted(await fixture.engine.submit(aRequest({ toolName: tool.name }), agent));
    const decision = { decision: 'allow', digest: approval?.digest ?? '', note: null } as const;
    await fixture.engine.calls.decide(operator, id, decision);
    await settled();
    return { ...fixture, id };
  }

  const FOUND = [
    ['is as it was approved', (store: Store) => store, { name: 'COMPLETED' }, true],
    ['was changed in the store', changedStore, CHANGED, false],
  ] as const;

  it.each(FOUND)(
    'runs again after a restart only if it is as approved: it %s',
    async (_how, found, state, runs) => {
      const annotations = { destructive: true, idempotent: true };
      const tool = aServerTool({ name: 'toy.delete', annotations, execute: () => new Promise(() => {}) });
      const { id, store, clock } = await approvedCall(tool);
      const execute = vi.fn(() => Promise.resolve('ran'));
      const { engine } = await anEngine({ tools: [{ ...tool, execute }], store: found(store), clock });
      await settled();
      expect((await engine.calls.find(agent, id))?.state).toMatchObject(state);
      expect(execute).toHaveBeenCalledTimes(runs ? 1 : 0);
    },
  );

  it.each(FOUND)(
    'runs with a response after a restart only if it is as approved: it %s',
    async (_how, found, state, runs) => {
      const tool = returning({ annotations: { destructive: true, asks_input: true } });
      const { id, store, clock } = await approvedCall(tool);
      const { engine } = await anEngine({ tools: [tool], store: found(store), clock });
      expect(await engine.calls.respond(agent, id, PARIS)).toMatchObject({ ok: true });
      await settled();
      expect((await engine.calls.find(agent, id))?.state).toMatchObject(state);
      expect(tool.runs).toHaveLength(runs ? 2 : 1);
    },
  );

  it.each(['findCall', 'readLedger'] as const)(
    'runs when %s of the store works again, and the operator is told that the decision counts',
    async (read) => {
      const { engine, clock, store, execute, call, digest, find } = await waitingCall();
      const reads = vi.spyOn(store, read).mockImplementation(() => {
        throw new StorageUnavailable('the database is away');
      });
      const decision = { decision: 'allow', digest, note: null } as const;
      expect(await engine.calls.decide(operator, call.id, decision)).toMatchObject({ ok: true });
      await clock.advance(5_000);
      expect([execute.mock.calls.length, engine.load().byState.APPROVED]).toEqual([0, 1]);
      reads.mockRestore();
      await clock.advance(1_000);
      expect(execute).toHaveBeenCalledTimes(1);
      expect((await find()).state.name).toBe('COMPLETED');
    },
  );

  it('does not run after it was cancelled while the store could not be read', async () => {
    const { engine, clock, store, execute, call, digest } = await waitingCall();
    const reads = vi.spyOn(store, 'readLedger').mockRejectedValue(new StorageUnavailable('away'));
    await engine.calls.decide(operator, call.id, { decision: 'allow', digest, note: null });
    expect(await engine.calls.cancel(agent, call.id)).toMatchObject({ ok: true });
    reads.mockRestore();
    await clock.advance(5_000);
    expect(execute).not.toHaveBeenCalled();
    await engine.drain();
  });
});
