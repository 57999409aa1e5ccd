import { describe, expect, it } from 'vitest';
import { aPrincipal } from '../../../test/support/an-engine.ts';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import { nodeDigest } from '../../runtime/digest.ts';
import { memoryStore } from '../../store/memory/memory-store.ts';
import type { Store } from '../ports.ts';
import { GrantIndex } from './grants.ts';
import { EMPTY_POLICY } from './policy/document.ts';
import { PolicyGuard } from './policy-guard.ts';
import { PolicyService } from './policy-service.ts';

const operator = aPrincipal({ kind: 'operator', id: 'operator' });
const clock = new FakeClock();
const denies = (tool: string): unknown => ({ default: { autoDenyTools: [tool] } });

async function aService(store: Store): Promise<{ policies: PolicyService; guard: PolicyGuard }> {
  const guard = new PolicyGuard({ version: 0, document: EMPTY_POLICY }, new GrantIndex(nodeDigest), clock);
  const policies = new PolicyService({ store, guard, clock, initial: {} });
  expect(await policies.load()).toEqual([]);
  return { policies, guard };
}

describe('policies of two nodes on one store', () => {
  it('never overwrite each other: a change of an older version is a conflict', async () => {
    const store = memoryStore({ digest: nodeDigest });
    const here = await aService(store);
    const there = await aService(store);
    expect(await there.policies.replace(operator, denies('a'), 0)).toMatchObject({ version: 1 });
    expect(await here.policies.replace(operator, denies('b'), 0)).toMatchObject({
      code: 'conflict',
      reasons: [{ code: 'policy_version_differs', params: { version: 1, expected: 0 } }],
    });
    expect(here.policies.current('default')).toMatchObject({ version: 1, document: denies('a') });
    expect(['a', 'b'].map((tool) => here.guard.listsName(aPrincipal(), tool))).toEqual([false, true]);
    expect(await store.documents('policy')).toHaveLength(1);
  });

  it('follow each other if any version may be replaced', async () => {
    const store = memoryStore({ digest: nodeDigest });
    const [here, there] = [await aService(store), await aService(store)];
    for (const tool of ['a', 'b']) await there.policies.replace(operator, denies(tool), null);
    expect(await here.policies.replace(operator, denies('c'), null)).toMatchObject({ version: 3 });
    const bodies = (await store.documents('policy')).map(({ body }) => JSON.parse(body) as unknown);
    expect(bodies).toMatchObject(['a', 'b', 'c'].map((tool) => ({ document: denies(tool) })));
    const changed = await store.readLedger({ kinds: ['policy.changed'] }, 0, 10);
    expect(changed).toHaveLength(3);
  });
});
