import { beforeEach, describe, expect, it } from 'vitest';
import { accepted, anEngine, aPrincipal, aRequest, aServerTool } from '../../test/support/an-engine.ts';
import { delayingStore, type DelayingStore } from '../../test/support/delaying-store.ts';
import type { Call } from './call/call.ts';
import type { Engine } from './engine.ts';
import type { CallRequest } from './call/call-request.ts';
import type { Store } from './ports.ts';

const me = aPrincipal();
const operator = aPrincipal({ kind: 'operator', id: 'op', agentId: 'op' });
const endless = () => new Promise<never>(() => {});

async function submitted(
  engine: Engine,
  request: Partial<CallRequest> & { toolName: string },
): Promise<Call> {
  return accepted(await engine.submit(aRequest(request), me));
}

/** Counts the moves of calls that are written at the same time. */
function countingWrites(store: Store): { readonly writing: Store; readonly most: () => number } {
  let [now, most] = [0, 0];
  const writing = new Proxy(store, {
    get: (target, name) => {
      const method = Reflect.get(target, name) as unknown;
      if (typeof method !== 'function') return method;
      if (name !== 'replaceCall') return method.bind(target) as unknown;
      return async (...args: unknown[]): Promise<unknown> => {
        now += 1;
        most = Math.max(most, now);
        try {
          return await (Reflect.apply(method, target, args) as unknown);
        } finally {
          now -= 1;
        }
      };
    },
  });
  return { writing, most: () => most };
}

/** What an engine does with the calls of an earlier one on the same store. */
export function describeEngineRestarts(name: string, open: () => Promise<Store>): void {
  describe(`restarts of an engine on ${name}`, () => {
    let store: Store;
    let idle: DelayingStore['idle'];

    beforeEach(async () => {
      ({ store, idle } = delayingStore(await open(), [0]));
    });

    async function approve(engine: Engine, { id, approval }: Call): Promise<void> {
      const decision = { decision: 'allow', digest: approval?.digest ?? '', note: null } as const;
      expect(await engine.calls.decide(operator, id, decision)).toMatchObject({ ok: true });
      await idle();
    }

    describe('an approved call', () => {
      it('does not run again after a restart under another contract', async () => {
        const annotations = { idempotent: true, requires_approval: true };
        const pay = aServerTool({ name: 'pay', description: 'pays one cent', annotations, execute: endless });
        const before = await anEngine({ tools: [pay], store });
        const call = await submitted(before.engine, { toolName: 'pay' });
        await approve(before.engine, call);
        let ran = 0;
        const other = aServerTool({
          ...pay,
          description: 'pays all there is',
          execute: () => Promise.resolve((ran += 1)),
        });
        const after = await anEngine({ tools: [other], store, clock: before.clock });
        await idle();
        expect(ran).toBe(0);
        expect((await after.engine.calls.find(me, call.id))?.state).toMatchObject({
          name: 'FAILED',
          error: { code: 'approval_denied', outcome: 'unknown' },
        });
      });

      it('is not handed out to a client that means something else by the name since', async () => {
        const { engine } = await anEngine({ store });
        const lend = async (description: string) =>
          await engine.clientTools.register('default', 'c1', [
            {
              name: 'door',
              description,
              schema: { type: 'object' },
              timeout_ms: 60_000,
              annotations: { requires_approval: true },
            },
          ]);
        await lend('opens the cat flap');
        const call = await submitted(engine, { toolName: 'door' });
        await approve(engine, call);
        await lend('opens the vault');
        const got: string[] = [];
        engine.clientQueues.attach('default', 'c1', {
          deliver: ({ id }) => got.push(id),
          withdraw: () => undefined,
        });
        expect(got).toEqual([]);
        expect(engine.clientQueues.unacknowledged('default', 'c1')).toEqual([]);
        await lend('opens the cat flap');
        expect(engine.clientQueues.unacknowledged('default', 'c1').map(({ id }) => id)).toEqual([call.id]);
      });
    });

    describe('a call that waits for a slot', () => {
      it('does not run after a restart under another contract', async () => {
        const tool = aServerTool({ name: 'w', concurrency: 1, execute: endless });
        const before = await anEngine({ tools: [tool], store });
        await submitted(before.engine, { toolName: 'w' });
        const waiting = await submitted(before.engine, { toolName: 'w' });
        const { clock } = before;
        let ran = 0;
        const execute = (): Promise<number> => Promise.resolve((ran += 1));
        const other = aServerTool({ ...tool, description: 'another contract', execute });
        const after = await anEngine({ tools: [other], store, clock });
        await idle();
        expect(ran).toBe(0);
        expect((await after.engine.calls.find(me, waiting.id))?.state).toMatchObject({
          name: 'FAILED',
          error: { code: 'tool_not_found', outcome: 'not_started' },
        });
      });
    });

    describe('calls that were executing', () => {
      it('are ended together, so that a store that groups commits needs few of them', async () => {
        const tools = [aServerTool({ name: 'w', execute: endless })];
        const { engine, clock } = await anEngine({ tools, store });
        const calls = Array.from({ length: 40 }, (_, run) => ({ toolName: 'w', runId: `r${run}` }));
        await Promise.all(calls.map((call) => submitted(engine, call)));
        const { writing, most } = countingWrites(delayingStore(store, [3]).store);
        const after = await anEngine({ tools, store: writing, clock });
        expect(after.engine.load().open).toBe(0);
        expect(await store.countByState()).toMatchObject({ SEALED: 40 });
        expect(most()).toBe(40);
      });
    });

    describe('what a restart says of the outcome', () => {
      it('is unknown for a call that ran in another sandbox', async () => {
        const tool = aServerTool({ name: 'w', sandbox: 'bubblewrap', annotations: { idempotent: true } });
        const before = await anEngine({ tools: [{ ...tool, execute: endless }], store });
        const call = await submitted(before.engine, { toolName: 'w' });
        const { clock } = before;
        const after = await anEngine({ tools: [{ ...tool, sandbox: 'none' }], store, clock });
        await idle();
        expect((await after.engine.calls.find(me, call.id))?.state).toMatchObject({
          name: 'FAILED',
          error: { code: 'sandbox_unavailable', outcome: 'unknown' },
        });
      });

      it('is unknown for a call of a sub-agent that a client had been given', async () => {
        const tools = [aServerTool({ name: 'task', execute: endless })];
        const before = await anEngine({ tools, store });
        await before.engine.clientTools.register('default', 'c1', [
          { name: 'door', schema: { type: 'object' } },
        ]);
        const { id: parentCallId } = await submitted(before.engine, { toolName: 'task' });
        before.engine.clientQueues.attach('default', 'c1', {
          deliver: () => undefined,
          withdraw: () => undefined,
        });
        const child = await submitted(before.engine, { toolName: 'door', parentCallId });
        const after = await anEngine({ tools, store, clock: before.clock });
        await idle();
        expect((await after.engine.calls.find(me, child.id))?.state).toMatchObject({
          name: 'CANCELLED',
          error: { outcome: 'unknown' },
        });
      });
    });
  });
}
