import { describe, expect, it } from 'vitest';
import { aPrincipal, aServerTool, manualTool } from '../../test/support/an-engine.ts';
import { me } from '../../test/support/asking-tools.ts';
import { engineNodes, submitTo, type EngineNode } from '../../test/support/engine-nodes.ts';
import { settled } from '../../test/support/fake-clock.ts';
import type { Principal } from './access/principal.ts';
import { DEFAULT_RATES } from './access/rate-limits.ts';
import type { BoardEvent } from './ledger/events.ts';

const agent = aPrincipal({ kind: 'agent', id: 'agent', agentId: 'agent' });
const RATES = { ...DEFAULT_RATES, principal: { burst: 4, perSecond: 2 }, tenant: null };

function follow({ engine }: EngineNode, principal: Principal, callId: string | null = null): BoardEvent[] {
  const events: BoardEvent[] = [];
  engine.feed.follow({ principal, callId }, 0, {
    next: (event) => void events.push(event),
    ready: () => null,
    failed: (error) => {
      throw error;
    },
  });
  return events;
}

describe('events of a call that runs at another node', () => {
  it('reach the readers that may see the call, progress and custom events too', async () => {
    const { tool, running } = manualTool('slow');
    const { a, b } = await engineNodes({ tools: [tool] });
    const seen = follow(b, me);
    const unseen = follow(b, aPrincipal({ tenant: 'other' }));
    const foreign = follow(b, aPrincipal({ kind: 'agent', id: 'other', agentId: 'other' }));
    await settled();
    const { id } = await submitTo(a, { toolName: 'slow' });
    running.get(id)?.context.progress({ done: 1 });
    running.get(id)?.context.emit('step', { n: 2 });
    running.get(id)?.resolve('done');
    await settled();
    expect(seen.map(({ type }) => type)).toEqual([
      'call.state',
      'call.state',
      'call.progress',
      'tool_custom_event',
      'call.state',
    ]);
    expect(seen[2]?.data).toMatchObject({ tool_call_id: id, data: { done: 1 } });
    expect(seen[3]?.data).toMatchObject({ event_type: 'step', data: { n: 2 } });
    expect([unseen, foreign]).toEqual([[], []]);
  });

  it('are not lost with their notifications, except progress', async () => {
    const { tool, running } = manualTool('slow');
    const { a, b } = await engineNodes({ tools: [tool] }, { notifies: false });
    const seen = follow(b, me);
    await settled();
    const { id } = await submitTo(a, { toolName: 'slow' });
    running.get(id)?.context.progress({ done: 1 });
    running.get(id)?.resolve('done');
    await settled();
    expect(seen.map(({ type }) => type)).toEqual(['call.state', 'call.state', 'call.state']);
  });

  it('are sent only to nodes where a reader follows the tenant', async () => {
    const { tool } = manualTool('slow');
    const { a, b } = await engineNodes({ tools: [tool] });
    expect(a.peers.followedTenants()).toEqual([]);
    follow(b, me);
    expect([a.peers.followedTenants(), b.peers.followedTenants()]).toEqual([[], ['default']]);
  });
});

describe('a rate limit', () => {
  it('counts what other nodes have allowed', async () => {
    const { a, b, clock } = await engineNodes({ tools: [aServerTool({ name: 'plain' })], rates: RATES });
    const allowed = (node: EngineNode): boolean => node.engine.chargeRequest(agent) === null;
    expect([allowed(a), allowed(b), allowed(a), allowed(b)]).toEqual([true, true, true, true]);
    expect([allowed(a), allowed(b)]).toEqual([false, false]);
    await clock.advance(500);
    expect([allowed(a), allowed(b)]).toEqual([true, false]);
    await clock.advance(60_000);
    // Refilled to its burst, not more.
    expect([1, 2, 3, 4, 5].map(() => allowed(b))).toEqual([true, true, true, true, false]);
  });

  it('is paid back at its own pace after both nodes allowed as much before they heard of each other', async () => {
    const { a, b, clock } = await engineNodes({ rates: RATES }, { notifies: false });
    const allowed = (node: EngineNode): boolean => node.engine.chargeRequest(agent) === null;
    for (const node of [a, b])
      expect([1, 2, 3, 4, 5].map(() => allowed(node)).filter(Boolean)).toHaveLength(4);
    a.peers.notifies = true;
    for (const [bucket, tokens] of a.peers.tokens.splice(0)) a.peers.spent(bucket, tokens);
    await clock.advance(2_000);
    expect(allowed(b)).toBe(false);
    await clock.advance(500);
    expect(allowed(b)).toBe(true);
  });

  it('of a tool counts too, and tokens that were put back', async () => {
    const rates = {
      principal: { burst: 10, perSecond: 1 },
      tenant: { burst: 1, perSecond: 1 },
      tool: { burst: 1, perSecond: 1 },
      tools: new Map(),
    };
    const { a, b } = await engineNodes({ tools: [aServerTool({ name: 'plain' })], rates });
    const submitted = await a.engine.submit({ toolName: 'plain', runId: 'run_1', args: {} }, agent);
    expect(submitted.kind).toBe('accepted');
    // The tenant's limit refuses this one, so the principal gets its token back.
    expect(b.engine.chargeRequest(agent)).toMatchObject({ code: 'rate_limited', rate: { policy: 'tenant' } });
    expect(sum(b.peers.tokens, 'principal')).toBe(0);
    const plain = b.engine.tool(agent, 'plain')!;
    expect(b.engine.rateOf(agent, plain)).toMatchObject({ policy: 'tool', remaining: 0 });
  });
});

function sum(tokens: readonly [bucket: string, tokens: number][], kind: string): number {
  return tokens.filter(([bucket]) => bucket.startsWith(kind)).reduce((all, [, count]) => all + count, 0);
}
