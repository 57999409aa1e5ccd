import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { aCall } from '../../../test/support/a-call.ts';
import { anEngine, aPrincipal } from '../../../test/support/an-engine.ts';
import type { Call } from './call.ts';
import type { Engine } from '../engine.ts';
import type { Principal } from '../access/principal.ts';

const tenant = fc.constantFrom('default', 'other');
const name = fc.constantFrom('ada', 'bob', 'phone');

const calls = fc.array(
  fc.record({ tenant, agentId: name, clientId: fc.option(name), runId: fc.constantFrom('run_a', 'run_b') }),
  { minLength: 1, maxLength: 12 },
);

const askers = fc.record({
  kind: fc.constantFrom<Principal['kind']>('agent', 'client', 'operator', 'service', 'local'),
  agentId: name,
  clientId: fc.option(name),
  tenant,
});

async function listed(engine: Engine, principal: Principal): Promise<string[]> {
  const ids: string[] = [];
  let cursor: string | null = null;
  do {
    const page = await engine.calls.list(principal, {}, cursor, 3);
    ids.push(...page.items.map(({ id }) => id));
    cursor = page.nextCursor;
  } while (cursor !== null);
  return ids.sort();
}

async function found(engine: Engine, principal: Principal, stored: readonly Call[]): Promise<string[]> {
  const seen: string[] = [];
  for (const { id } of stored) if ((await engine.calls.find(principal, id)) !== undefined) seen.push(id);
  return seen.sort();
}

describe('every principal', () => {
  it('is listed exactly the calls that it finds one by one', async () => {
    let some = 0;
    await fc.assert(
      fc.asyncProperty(calls, askers, async (given, caller) => {
        const { engine, store } = await anEngine({});
        const stored = given.map((call) => aCall({ ...call, runId: `${call.runId}_${call.agentId}` }));
        for (const call of stored) {
          const run = { id: call.runId, tenant: call.tenant, agentId: call.agentId };
          await store.insertCall({
            call,
            run: { ...run, createdAt: call.createdAt, cancelledAt: null },
            idempotency: null,
            entries: [],
          });
        }
        const principal = aPrincipal({ ...caller, id: caller.agentId });
        const ids = await found(engine, principal, stored);
        expect(await listed(engine, principal)).toEqual(ids);
        if (ids.length > 0 && ids.length < stored.length) some += 1;
      }),
      { numRuns: 300 },
    );
    expect(some).toBeGreaterThan(50);
  });

  it('finds as a client what it asks for and what it runs, and nothing else', async () => {
    const { engine, store } = await anEngine({});
    const phone = aPrincipal({ kind: 'client', id: 'phone', agentId: 'phone', clientId: 'phone' });
    const asked = aCall({ agentId: 'phone' });
    const ran = aCall({ agentId: 'ada', clientId: 'phone', runId: 'run_2' });
    const neither = aCall({ agentId: 'ada', clientId: 'tablet', runId: 'run_2' });
    for (const call of [asked, ran, neither]) {
      const { runId: id, tenant: of, agentId, createdAt } = call;
      const run = { id, tenant: of, agentId, createdAt, cancelledAt: null };
      await store.insertCall({ call, run, idempotency: null, entries: [] });
    }
    expect(await found(engine, phone, [asked, ran, neither])).toEqual([asked.id, ran.id].sort());
    const ofAda = await engine.calls.list(phone, { agentId: 'ada' }, null, 10);
    expect(ofAda.items.map(({ id }) => id)).toEqual([ran.id]);
  });
});
