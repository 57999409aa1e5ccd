import { describe, expect, it } from 'vitest';
import { anEngine, aPrincipal, aServerTool } from '../../../../test/support/an-engine.ts';
import { GrantIndex } from '../../../core/access/grants.ts';
import { PolicyGuard } from '../../../core/access/policy-guard.ts';
import { PolicyService } from '../../../core/access/policy-service.ts';
import { decodePolicy } from '../../../core/access/policy/document.ts';
import { nodeDigest } from '../../../runtime/digest.ts';
import { FakeClock } from '../../../../test/support/fake-clock.ts';
import { MCP_FORMAT, ToolLists, type ToolListFormat } from './tool-lists.ts';

const clock = new FakeClock();

async function lists(keptChars?: number) {
  const decoded = decodePolicy({ agents: { shy: { autoDenyTools: ['b'] } } });
  if (!decoded.ok) throw new Error('bad policy');
  const guard = new PolicyGuard({ version: 0, document: decoded.policy }, new GrantIndex(nodeDigest), clock);
  const tools = [aServerTool({ name: 'a' }), aServerTool({ name: 'b' })];
  const { engine, store } = await anEngine({ tools, guard, clock });
  const made = new ToolLists(engine, keptChars);
  const listFor = (agentId: string, tenant = 'default', format?: ToolListFormat) =>
    made.for(aPrincipal({ agentId, id: agentId, tenant }), format);
  return { engine, store, guard, listFor };
}

const namesIn = ({ json }: { json: string }): string[] =>
  (JSON.parse(json) as { tools: { name: string }[] }).tools.map(({ name }) => name);

describe('ToolLists', () => {
  it('returns the same list to all principals that see the same tools', async () => {
    const { listFor } = await lists();
    const first = listFor('agent-0');
    for (let agent = 1; agent < 3000; agent += 1) expect(listFor(`agent-${agent}`)).toBe(first);
    expect(listFor('agent-1', 'another-tenant')).toBe(first);
    expect(namesIn(first)).toEqual(['a', 'b']);
  });

  it('returns another list if the visible tools differ, and after a change', async () => {
    const { engine, listFor } = await lists();
    const first = listFor('agent-0');
    expect(namesIn(listFor('shy'))).toEqual(['a']);
    await engine.clientTools.register('default', 'kiosk', [{ name: 'c', schema: {} }]);
    expect(namesIn(listFor('agent-0'))).toEqual(['a', 'b', 'c']);
    expect(listFor('agent-0').etag).not.toBe(first.etag);
    expect(namesIn(listFor('agent-0', 'another-tenant'))).toEqual(['a', 'b']);
    // The time limit is in the list, but not in the contract hash.
    await engine.clientTools.register('default', 'kiosk', [{ name: 'c', schema: {}, timeout_ms: 7 }]);
    expect(listFor('agent-0').json).toContain('"timeout_ms":7');
  });

  it('caches lists within its limit, and is correct without the cache', async () => {
    const { listFor } = await lists(1);
    expect(namesIn(listFor('agent-0'))).toEqual(['a', 'b']);
    expect(listFor('agent-0')).not.toBe(listFor('agent-0'));
    expect(listFor('agent-0')).toEqual(listFor('agent-1'));
    const whole = listFor('agent-0').json.length;
    const narrow = await lists(whole + 10);
    const kept = narrow.listFor('agent-0');
    expect(narrow.listFor('agent-1')).toBe(kept);
    expect(namesIn(narrow.listFor('shy'))).toEqual(['a']);
    expect(narrow.listFor('agent-1')).not.toBe(kept);
  });

  it('caches per format, and encodes each tool once per format', async () => {
    const { listFor } = await lists();
    const written: string[] = [];
    const format: ToolListFormat = {
      row: ({ name }) => {
        written.push(name);
        return JSON.stringify({ name, title: name.toUpperCase() });
      },
    };
    const own = listFor('agent-0');
    const other = listFor('agent-0', 'default', format);
    expect(JSON.parse(other.json)).toEqual({
      tools: [
        { name: 'a', title: 'A' },
        { name: 'b', title: 'B' },
      ],
    });
    expect(other.etag).not.toBe(own.etag);
    expect(listFor('agent-1', 'default', format)).toBe(other);
    expect(listFor('agent-0')).toBe(own);
    expect(namesIn(listFor('shy', 'default', format))).toEqual(['a']);
    expect(written).toEqual(['a', 'b']);
    expect(namesIn(listFor('shy', 'default', MCP_FORMAT))).toEqual(['a']);
  });

  it('returns the new list when the feed publishes a policy change, which no stream shows', async () => {
    const { engine, store, guard, listFor } = await lists();
    const policies = new PolicyService({ store, guard, clock, initial: {} });
    const streamed: string[] = [];
    const stopStream = engine.feed.follow({ principal: aPrincipal({ kind: 'operator' }), callId: null }, 0, {
      next: ({ type }) => void streamed.push(type),
      ready: () => null,
      failed: () => {},
    });
    const told: unknown[] = [];
    const stop = engine.feed.listen((event) => {
      if (event.type === 'policy.changed') told.push([event.tenant, namesIn(listFor('agent-0'))]);
    });
    expect(namesIn(listFor('agent-0'))).toEqual(['a', 'b']);
    const changed = await policies.replace(aPrincipal(), { default: { autoDenyTools: ['a'] } }, null);
    expect(changed).toMatchObject({ version: 1 });
    expect(told).toEqual([['default', ['b']]]);
    stop();
    stopStream();
    await policies.replace(aPrincipal(), {}, null);
    expect(told).toHaveLength(1);
    expect(streamed).toEqual([]);
  });
});
