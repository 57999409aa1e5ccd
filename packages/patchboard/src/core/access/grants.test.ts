import { describe, expect, it } from 'vitest';
import { aCall } from '../../../test/support/a-call.ts';
import { aPrincipal } from '../../../test/support/an-engine.ts';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import { nodeDigest } from '../../runtime/digest.ts';
import { timeOrderedIds } from '../../runtime/ids.ts';
import { memoryStore } from '../../store/memory/memory-store.ts';
import { GrantService, type GrantRequest } from './grant-service.ts';
import { GrantIndex, type GrantQuery } from './grants.ts';

const operator = aPrincipal({ kind: 'operator', id: 'olga' });
const call = aCall({ agentId: 'ada', argsJson: '{"cents":5,"to":"bob"}' });
const QUESTION: GrantQuery = {
  tenant: 'default',
  agentId: 'ada',
  toolName: call.toolName,
  toolVersion: call.toolVersion,
  args: { cents: 5, to: 'bob' },
};
const TOOL: GrantRequest = { scope: 'tool', when: [], thisAgentOnly: true, lifetimeMs: null };

async function given(request: Partial<GrantRequest> = {}) {
  const clock = new FakeClock();
  const store = memoryStore({ digest: nodeDigest });
  const index = new GrantIndex(nodeDigest);
  const parts = { store, clock, ids: timeOrderedIds(clock), digest: nodeDigest };
  const service = new GrantService({ ...parts, index });
  const grant = await service.give(operator, call, { ...TOOL, ...request });
  const covers = (question: Partial<GrantQuery> = {}): boolean =>
    index.match({ ...QUESTION, ...question }, clock.now()) !== undefined;
  return { clock, store, index, service, grant, covers, parts };
}

describe('a grant', () => {
  it('is for this tenant, tool, contract and agent', async () => {
    const { covers } = await given();
    expect(covers()).toBe(true);
    expect(covers({ tenant: 'other' })).toBe(false);
    expect(covers({ toolName: 'toy.other' })).toBe(false);
    expect(covers({ toolVersion: 'v2' })).toBe(false);
    expect(covers({ agentId: 'bob' })).toBe(false);
    expect((await given({ thisAgentOnly: false })).covers({ agentId: 'bob' })).toBe(true);
  });

  it('expires to the millisecond', async () => {
    const { clock, covers } = await given({ lifetimeMs: 1000 });
    await clock.advance(999);
    expect(covers()).toBe(true);
    await clock.advance(1);
    expect(covers()).toBe(false);
  });

  it('for exact arguments ignores member order and matches no other arguments', async () => {
    const { covers } = await given({ scope: 'exact' });
    expect(covers({ args: { to: 'bob', cents: 5 } })).toBe(true);
    for (const args of [{}, { cents: 5 }, { cents: 5, to: 'bob', more: null }, { cents: '5', to: 'bob' }]) {
      expect(covers({ args })).toBe(false);
    }
  });

  it('is refused if its condition has no comparison', async () => {
    const { service } = await given();
    const predicate = { ...TOOL, scope: 'predicate' } as const;
    expect(service.check({ ...predicate, when: [] })).toMatchObject({ code: 'body_invalid' });
    expect(service.check({ ...predicate, when: [{ arg: '/a' }] })).toMatchObject({ code: 'body_invalid' });
    expect(service.check({ ...predicate, when: [{ arg: '/a', lt: 1 }] })).toBeNull();
    expect(service.check(TOOL)).toBeNull();
    expect(service.check(undefined)).toBeNull();
  });

  it('survives a restart until it is revoked, and both changes have a ledger row', async () => {
    const { store, service, grant, covers, parts } = await given();
    const index = new GrantIndex(nodeDigest);
    await new GrantService({ ...parts, index }).load();
    expect(index.list('default')).toEqual([grant]);
    expect(await service.revoke({ ...operator, tenant: 'other' }, grant.id)).toMatchObject({
      code: 'grant_not_found',
    });
    expect(covers()).toBe(true);
    await service.revoke(operator, grant.id);
    expect(covers()).toBe(false);
    expect(await store.documents('grant')).toEqual([]);
    const rows = await store.readLedger({}, 0, 10);
    expect(rows.map(({ row }) => row.kind)).toEqual(['grant.created', 'grant.revoked']);
  });
});
