import { describe, expect, it } from 'vitest';
import { DEFAULT_RATES, type Rates } from '../../src/core/access/rate-limits.ts';
import type { ServerTool } from '../../src/core/tools/server-tool.ts';
import { anEngine, aPrincipal, aRequest, aServerTool } from '../support/an-engine.ts';
import { settled } from '../support/fake-clock.ts';
import { platformsOfTests, type MintedKey, type TestPlatform } from './support/a-platform.ts';
import type { TestResponse } from './support/ask.ts';
import { echoTool } from './support/scene.ts';
import { closedAfterEach } from '../support/after-each.ts';

const closeLater = closedAfterEach();

const aServer = platformsOfTests(closeLater, { tools: [echoTool] });

async function invoke(server: TestPlatform, key: MintedKey | null, tool = 'toy.echo'): Promise<TestResponse> {
  return await server.ask({
    method: 'POST',
    path: `/v1/tools/${tool}/invoke`,
    headers: key?.headers ?? {},
    body: { run_id: `run_${key?.id ?? 'local'}`, args: {} },
  });
}

/** Slow enough that no test gets a token back while it runs. */
const SLOW = { burst: 2, per_second: 0.001 };

describe('a rate limit', () => {
  it.each([
    ['principal', { rates: { principal: SLOW } }],
    ['tenant', { rates: { tenant: SLOW } }],
    ['tool', { rates: { tool: SLOW } }],
    ['tool', { tools: { 'toy.echo': { rate: SLOW } } }],
  ])('of a %s returns 429 with the limit and the time to wait: %j', async (policy, config) => {
    const server = await aServer({ config });
    const key = await server.mint({ kind: 'agent', name: 'ada' });
    for (let count = 0; count < SLOW.burst; count += 1) {
      expect((await invoke(server, key)).status).toBe(202);
    }
    const refused = await invoke(server, key);
    expect([refused.status, refused.json.code, refused.json.retryable]).toEqual([429, 'rate_limited', true]);
    const wait = Number(refused.headers['retry-after']);
    expect(wait).toBeGreaterThan(0);
    expect(wait).toBeLessThanOrEqual(1000);
    expect(refused.headers['ratelimit-policy']).toBe(`"${policy}";q=2;w=2000`);
    expect(refused.headers['ratelimit']).toBe(`"${policy}";r=0;t=${wait}`);
    const ledger = await server.asOperator('GET', '/v1/ledger');
    expect(ledger.json.rows.at(-1)).toMatchObject({ kind: 'call.refused', body: { code: 'rate_limited' } });
  });

  it('of a principal is its own: another one goes on', async () => {
    const server = await aServer({ config: { rates: { principal: SLOW } } });
    const [ada, bob] = [
      await server.mint({ kind: 'agent', name: 'ada' }),
      await server.mint({ kind: 'agent', name: 'bob' }),
    ];
    // Two keys of one agent share what the agent has.
    const again = await server.mint({ kind: 'agent', name: 'ada' });
    expect((await invoke(server, ada)).status).toBe(202);
    await server.ask({
      method: 'POST',
      path: '/v1/tools/toy.echo/invoke',
      headers: again.headers,
      body: { run_id: `run_${ada.id}`, args: {} },
    });
    expect((await invoke(server, ada)).status).toBe(429);
    expect((await invoke(server, bob)).status).toBe(202);
  });

  it('of a tenant is its own', async () => {
    const server = await aServer({ config: { rates: { tenant: SLOW } } });
    const ada = await server.mint({ kind: 'agent', name: 'ada' });
    const eve = await server.mint({ kind: 'agent', name: 'eve', tenant: 'other' });
    for (let count = 0; count < 5; count += 1) await invoke(server, eve);
    expect((await invoke(server, eve)).status).toBe(429);
    expect((await invoke(server, ada)).status).toBe(202);
  });

  it('counts a dry run, which asks the hooks like a call', async () => {
    const server = await aServer({ config: { rates: { principal: SLOW } } });
    const { headers } = await server.mint({ kind: 'agent', name: 'ada' });
    const path = '/v1/tools/toy.echo/invoke?dry_run=true';
    const dryRun = async () =>
      await server.ask({ method: 'POST', path, headers, body: { run_id: 'run_1', args: {} } });
    for (let count = 0; count < SLOW.burst; count += 1) expect((await dryRun()).status).toBe(200);
    expect(await dryRun()).toMatchObject({ status: 429, json: { code: 'rate_limited' } });
  });

  it('does not apply to local mode', async () => {
    const server = await aServer({ config: { rates: { principal: SLOW, tenant: SLOW, tool: SLOW } } });
    for (let count = 0; count < 10; count += 1) expect((await invoke(server, null)).status).toBe(202);
  });

  it('lets calls through again as time goes by, and counts none twice', async () => {
    const rates: Rates = {
      ...DEFAULT_RATES,
      principal: { burst: 2, perSecond: 1 },
      tenant: { burst: 3, perSecond: 1 },
    };
    const { engine, clock } = await anEngine({ tools: [echoTool], rates });
    const submit = async (agentId: string): Promise<string> => {
      const principal = aPrincipal({ kind: 'agent', id: agentId, agentId });
      const made = await engine.submit(aRequest({ toolName: 'toy.echo', runId: agentId }), principal);
      await settled();
      return made.kind === 'refused' ? made.failure.code : made.kind;
    };
    expect([await submit('a'), await submit('a'), await submit('a')]).toEqual([
      'accepted',
      'accepted',
      'rate_limited',
    ]);
    // What the agent's own limit refused took nothing from the tenant's.
    expect([await submit('b'), await submit('b')]).toEqual(['accepted', 'rate_limited']);
    await clock.advance(1000);
    expect([await submit('b'), await submit('a')]).toEqual(['accepted', 'rate_limited']);
  });
});

/** Runs until the test is over. */
const endless: ServerTool = aServerTool({
  name: 'toy.endless',
  timeoutMs: 60_000,
  execute: (_args, { signal }) =>
    new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('stopped')))),
});

describe('a tenant that floods', () => {
  it('gets 503 with Retry-After once its queue is full, and others go on', async () => {
    const server = await aServer({
      tools: [echoTool, endless],
      config: { limits: { open_calls_per_tenant: 3, drain_ms: 1 } },
    });
    const eve = await server.mint({ kind: 'agent', name: 'eve', tenant: 'other' });
    const ada = await server.mint({ kind: 'agent', name: 'ada' });
    const responses = await Promise.all(Array.from({ length: 30 }, () => invoke(server, eve, 'toy.endless')));
    expect(responses.filter(({ status }) => status === 202)).toHaveLength(3);
    const full = responses.filter(({ status }) => status !== 202);
    expect(new Set(full.map(({ status, json }) => `${status} ${json.code as string}`))).toEqual(
      new Set(['503 queue_full']),
    );
    for (const { headers } of full) expect(Number(headers['retry-after'])).toBeGreaterThan(0);
    expect((await invoke(server, ada)).status).toBe(202);
  });

  it('keeps its cap under concurrent requests', async () => {
    const { engine } = await anEngine({ tools: [endless], limits: { openCallsPerTenant: 5 } });
    const submitted = await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        engine.submit(aRequest({ toolName: 'toy.endless', runId: `r${index}` }), aPrincipal()),
      ),
    );
    expect(submitted.filter(({ kind }) => kind === 'accepted')).toHaveLength(5);
  });

  it("does not stop another tenant's call: slots are left for it", async () => {
    const { engine } = await anEngine({
      tools: [endless, echoTool],
      limits: { concurrencyServer: 8, concurrencyPerTenant: 6 },
    });
    const flood = aPrincipal({ tenant: 'flood' });
    await Promise.all(
      Array.from({ length: 200 }, (_, index) =>
        engine.submit(aRequest({ toolName: 'toy.endless', runId: `r${index}` }), flood),
      ),
    );
    const made = await engine.submit(aRequest({ toolName: 'toy.echo' }), aPrincipal());
    await settled();
    if (made.kind !== 'accepted') throw new Error('not accepted');
    expect((await engine.calls.find(aPrincipal(), made.call.id))?.state.name).toBe('COMPLETED');
    expect(engine.load()).toMatchObject({ executing: 6 });
  });
});
