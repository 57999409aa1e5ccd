import { describe, expect, it } from 'vitest';
import type { Guard } from '../../src/core/access/guard.ts';
import { DEFAULT_RATES } from '../../src/core/access/rate-limits.ts';
import { anEngine, aPrincipal, aRequest } from '../support/an-engine.ts';
import { aPlatform, type MintedKey, type TestPlatform } from './support/a-platform.ts';
import type { TestResponse } from './support/ask.ts';
import { deleteTool, echoTool } from './support/scene.ts';
import { closedAfterEach } from '../support/after-each.ts';

const closeLater = closedAfterEach();

/** Slow enough that no test gets a token back while it runs. */
const SLOW = { burst: 2, per_second: 0.001 };

type Ask = (server: TestPlatform, key: MintedKey, tool: string, args: unknown) => Promise<TestResponse>;

const invoke: Ask = (server, { headers }, tool, args) =>
  server.ask({
    method: 'POST',
    path: `/v1/tools/${tool}/invoke`,
    headers,
    body: { run_id: 'run_1', args },
  });

const batch: Ask = (server, { headers }, tool, args) =>
  server.ask({
    method: 'POST',
    path: '/v1/tool_calls/batch',
    headers,
    body: {
      format: 'anthropic',
      run_id: 'run_1',
      reply: [{ type: 'tool_use', id: 'toolu_1', name: tool, input: args }],
    },
  });

const callForTenant: Ask = (server, { headers }, tool, args) =>
  server.ask({
    method: 'POST',
    path: '/api/tools/call',
    headers: { ...headers, 'x-tenant-id': 'default', 'x-site-id': 'main', 'x-trace-id': 'trace-1' },
    body: { tool_name: tool, input: args },
  });

async function refusals(server: TestPlatform): Promise<unknown[]> {
  const { json } = await server.asOperator('GET', '/v1/ledger');
  const rows = json.rows as { kind: string; body: { code: string } }[];
  return rows.filter(({ kind }) => kind === 'call.refused').map(({ body }) => body.code);
}

describe('a request that is refused', () => {
  it.each([
    ['invoke', invoke],
    ['batch', batch],
    ['the tenant API', callForTenant],
  ])('spends from the rate of its caller: %s', async (_name, ask) => {
    const server = await aPlatform({ tools: [echoTool, deleteTool], config: { rates: { principal: SLOW } } });
    closeLater(() => server.close());
    const key = await server.mint({ kind: 'agent', name: 'ada' });
    await ask(server, key, 'toy.nothing', {});
    await ask(server, key, 'toy.delete', { path: 1 });
    expect(await refusals(server)).toEqual(['tool_not_found', 'input_invalid']);
    await ask(server, key, 'toy.echo', {});
    expect(await refusals(server)).toEqual(['tool_not_found', 'input_invalid', 'rate_limited']);
  });

  it('by the rate of a tool spends from the rate of its caller too', async () => {
    const rates = {
      ...DEFAULT_RATES,
      principal: { burst: 2, perSecond: 1 },
      tool: { burst: 1, perSecond: 1 },
    };
    const { engine } = await anEngine({ tools: [echoTool], rates });
    const principal = aPrincipal({ kind: 'agent', id: 'ada', agentId: 'ada' });
    const policies = [];
    for (let count = 0; count < 3; count += 1) {
      const made = await engine.submit(aRequest({ toolName: 'toy.echo' }), principal);
      policies.push(made.kind === 'refused' ? made.failure.rate?.policy : made.kind);
    }
    expect(policies).toEqual(['accepted', 'tool', 'principal']);
  });

  it('for a tool that the caller may not call neither shows its rate nor takes from it', async () => {
    const rates = { ...DEFAULT_RATES, tool: { burst: 1, perSecond: 0.001 } };
    const guard: Guard = {
      revision: 0,
      lists: ({ agentId }) => agentId === 'ada',
      listsName: () => true,
      registers: () => true,
      admit: () => ({ effect: 'allow', rule: 'test', reason: '', policyVersion: 0 }),
    };
    const { engine } = await anEngine({ tools: [echoTool], rates, guard });
    const submit = async (agentId: string): Promise<string> => {
      const principal = aPrincipal({ kind: 'agent', id: agentId, agentId });
      const made = await engine.submit(aRequest({ toolName: 'toy.echo', runId: agentId }), principal);
      return made.kind === 'refused' ? made.failure.code : made.kind;
    };
    const agents = ['eve', 'ada', 'ada', 'eve'];
    const made: string[] = [];
    for (const agent of agents) made.push(await submit(agent));
    expect(made).toEqual(['denied', 'accepted', 'rate_limited', 'denied']);
  });
});

describe('a flood', () => {
  it('leaves a bounded number of rows, and the next row counts the omitted ones', async () => {
    const rates = { ...DEFAULT_RATES, principal: { burst: 5, perSecond: 0.001 } };
    const { engine, store, clock } = await anEngine({ tools: [echoTool], rates });
    const flood = async (agentId: string, count: number): Promise<void> => {
      const principal = aPrincipal({ kind: 'agent', id: agentId, agentId });
      for (let made = 0; made < count; made += 1)
        expect(await engine.submit(aRequest({ toolName: 'toy.nothing' }), principal)).toMatchObject({
          kind: 'refused',
        });
    };
    const rows = async (): Promise<{ code: string; agent_id: string; unrecorded?: number }[]> =>
      (await store.readLedger({}, 0, 1000)).map(
        ({ row }) => JSON.parse(row.body) as { code: string; agent_id: string },
      );
    await flood('eve', 500);
    expect(await rows()).toHaveLength(5 + 100);
    expect((await rows()).filter(({ unrecorded }) => unrecorded !== undefined)).toEqual([]);
    await flood('ada', 1);
    expect((await rows()).at(-1)).toMatchObject({ code: 'tool_not_found', agent_id: 'ada' });
    await clock.advance(1000);
    await flood('eve', 2);
    expect((await rows()).slice(106)).toMatchObject([
      { code: 'rate_limited', agent_id: 'eve', unrecorded: 395 },
    ]);
  });
});
