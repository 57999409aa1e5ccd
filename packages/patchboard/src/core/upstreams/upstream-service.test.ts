import { describe, expect, it, vi } from 'vitest';
import {
  accepted,
  anEngine,
  aPrincipal,
  aRequest,
  submitted,
  type EngineFixture,
} from '../../../test/support/an-engine.ts';
import { AnUpstream, anUpstreamTool } from '../../../test/support/an-upstream.ts';
import { settled } from '../../../test/support/fake-clock.ts';
import type { Call } from '../call/call.ts';
import { InputRequired } from '../call/input.ts';
import { StorageFull } from '../failures.ts';
import { nodeDigest } from '../../runtime/digest.ts';
import { memoryStore } from '../../store/memory/memory-store.ts';
import { OPERATOR_NAME } from '../access/principal.ts';

const me = aPrincipal();
const operator = aPrincipal({ kind: 'operator', id: OPERATOR_NAME, agentId: 'operator' });
const SEARCH = anUpstreamTool({ name: 'github.search' });
const CHANGED = anUpstreamTool({ name: 'github.search', description: 'does something else' });

async function rows(
  { store }: EngineFixture,
  kind: 'registry.changed' | 'upstream.changed',
): Promise<unknown[]> {
  await settled();
  const found = await store.readLedger({ kinds: [kind] }, 0, 100);
  return found.map(({ row }) => JSON.parse(row.body) as unknown);
}

/** A started engine with one upstream that has listed `tools`. */
async function withUpstream(
  upstream = new AnUpstream(),
  tools = [SEARCH],
): Promise<EngineFixture & { upstream: AnUpstream }> {
  const fixture = await anEngine({ upstreams: [upstream] });
  upstream.lists(tools);
  upstream.becomes('connected');
  await settled();
  return { ...fixture, upstream };
}

/** A new engine over the same store. */
async function restarted({ store, clock }: EngineFixture, upstream = new AnUpstream()) {
  return { ...(await anEngine({ store, clock, upstreams: [upstream] })), upstream };
}

describe('the tools of an upstream', () => {
  it('are registered under its pack and source, changed and removed with one ledger row each', async () => {
    const other = anUpstreamTool({ name: 'github.other' });
    const fixture = await withUpstream(new AnUpstream(), [SEARCH, other]);
    expect(fixture.engine.tool(me, 'github.search')).toMatchObject({ source: 'mcp', pack: 'mcp:github' });
    fixture.upstream.lists([CHANGED]);
    fixture.upstream.lists([CHANGED]);
    expect(fixture.engine.toolIndex.list('default').map(({ name }) => name)).toEqual(['github.search']);
    expect(await rows(fixture, 'registry.changed')).toEqual([
      { pack: 'mcp:github', registered: ['github.search', 'github.other'] },
      {
        pack: 'mcp:github',
        registered: ['github.search'],
        changed: ['github.search'],
        removed: ['github.other'],
      },
    ]);
  });

  it('stay the same object if the list did not change', async () => {
    const { engine, upstream } = await withUpstream();
    const before = engine.toolIndex.find('default', 'github.search');
    upstream.lists([{ ...SEARCH }]);
    expect(engine.toolIndex.find('default', 'github.search')).toBe(before);
  });

  it('are checked by the rules for tools from outside, tool by tool', async () => {
    const hidden = anUpstreamTool({ name: 'github.hidden', description: 'reads\u200b files' });
    const schema = anUpstreamTool({ name: 'github.schema', inputSchema: { type: 'nothing' } });
    const { engine } = await withUpstream(new AnUpstream(), [hidden, schema, SEARCH]);
    const report = engine.upstreams.find('github');
    expect(report?.tools.map(({ name }) => name)).toEqual(['github.search']);
    expect(report?.rejected.map(({ name, code }) => [name, code])).toEqual([
      ['github.hidden', 'schema_invalid'],
      ['github.schema', 'schema_invalid'],
    ]);
  });

  it('are offered to exactly the tenants that the upstream names, else to those whose packs include it', async () => {
    const { engine } = await withUpstream(new AnUpstream({ tenants: ['acme'] }));
    engine.tenants.replace('beta', { sites: null, packs: ['mcp:github'], limits: {} });
    const seenBy = (tenant: string) => engine.toolIndex.find(tenant, 'github.search')?.name;
    expect(['acme', 'default', 'beta'].map(seenBy)).toEqual(['github.search', undefined, undefined]);
    const open = await withUpstream(new AnUpstream());
    open.engine.tenants.replace('beta', { sites: null, packs: ['mcp:github'], limits: {} });
    open.engine.tenants.replace('gamma', { sites: null, packs: ['test'], limits: {} });
    const offered = ['default', 'beta', 'gamma'].map(
      (tenant) => open.engine.toolIndex.find(tenant, 'github.search')?.name,
    );
    expect(offered).toEqual(['github.search', 'github.search', undefined]);
  });

  it('of some tenants are removed with an event for these tenants, and for no others', async () => {
    const { engine, store } = await withUpstream(new AnUpstream({ tenants: ['acme'] }));
    engine.tenants.replace('acme', { sites: null, packs: ['test'], limits: {} });
    const { seq } = await store.ledgerHead();
    const eventsOf = (tenant: string): unknown[] => {
      const events: unknown[] = [];
      const reader = {
        next: ({ data }: { readonly data: unknown }) => void events.push(data),
        ready: () => null,
        failed: (error: unknown) => void events.push(error),
      };
      engine.feed.follow({ principal: aPrincipal({ tenant }), callId: null }, seq, reader);
      return events;
    };
    const [acme, beta, own] = ['acme', 'beta', 'default'].map(eventsOf);
    await settled();
    await engine.upstreams.remove('github');
    await settled();
    expect([beta, own]).toEqual([[], []]);
    expect(acme).toMatchObject([{ pack: 'mcp:github', removed: ['github.search'] }]);
  });

  it('keep the risk that a name ever had, over a restart too', async () => {
    const risky = anUpstreamTool({ name: 'github.drop', annotations: { destructive: true } });
    const tame = anUpstreamTool({ name: 'github.drop' });
    const before = await withUpstream(new AnUpstream({ onChange: 'run' }), [risky]);
    before.upstream.lists([]);
    before.upstream.lists([tame]);
    expect(before.engine.tool(me, 'github.drop')?.annotations).toEqual({ destructive: true });
    await settled();
    const after = await restarted(before);
    after.upstream.lists([tame]);
    expect((await submitted(after, 'github.drop')).state.name).toBe('APPROVAL_REQUIRED');
  });

  it('share the concurrency limit of the upstream, and are online while it is', async () => {
    const upstream = new AnUpstream({ concurrency: 1 });
    const fixture = await withUpstream(upstream, [SEARCH, anUpstreamTool({ name: 'github.other' })]);
    const running: string[] = [];
    upstream.execution = ({ name }) => {
      running.push(name);
      return new Promise(() => {});
    };
    await submitted(fixture, 'github.search');
    await submitted(fixture, 'github.other');
    await settled();
    expect(running).toEqual(['github.search']);
    const preview = async () => {
      const found = await fixture.engine.previews.of(aRequest({ toolName: 'github.other' }), me);
      return found.ok && found.value.route.online;
    };
    expect(await preview()).toBe(true);
    upstream.becomes('disconnected');
    expect(await preview()).toBe(false);
  });

  it('are listed and found by open calls after a restart, before the upstream is connected again', async () => {
    const before = await withUpstream();
    const after = await restarted(before);
    expect(after.upstream.isStarted).toBe(true);
    expect(after.engine.tool(me, 'github.search')?.version).toBe(
      before.engine.tool(me, 'github.search')?.version,
    );
  });

  it('are not restored for an upstream of the other kind with the same name', async () => {
    const before = await withUpstream();
    const after = await restarted(before, new AnUpstream({ kind: 'openapi' }));
    expect(after.engine.tool(me, 'github.search')).toBeUndefined();
  });

  it('are removed while thousands of calls wait for a slot: each call ends, and its slot is free', async () => {
    const upstream = new AnUpstream({ concurrency: 1 });
    let finish = (): void => {};
    upstream.execution = () => new Promise<string>((resolve) => (finish = () => resolve('done')));
    const fixture = await withUpstream(upstream);
    const { engine } = fixture;
    const running = await submitted(fixture, 'github.search');
    const waiting: Call[] = [];
    for (let call = 0; call < 3000; call += 1)
      waiting.push(
        accepted(await engine.submit(aRequest({ toolName: 'github.search', runId: `run${call}` }), me)),
      );
    upstream.lists([]);
    finish();
    await settled();
    expect((await engine.calls.find(me, running.id))?.state.name).toBe('COMPLETED');
    const ends = await Promise.all(waiting.map(async ({ id }) => await engine.calls.find(me, id)));
    expect(new Set(ends.map((call) => call?.state.name))).toEqual(new Set(['FAILED']));
    expect(engine.load()).toMatchObject({ open: 0, waitingForSlot: 0, executing: 0 });
  });

  it('are removed with the upstream, and are not restored by a later start', async () => {
    const before = await withUpstream();
    await before.engine.upstreams.remove('github');
    expect([before.upstream.isClosed, before.engine.tool(me, 'github.search')]).toEqual([true, undefined]);
    await settled();
    const after = await restarted(before);
    expect(after.engine.tool(me, 'github.search')).toBeUndefined();
  });
});

describe('the result of an upstream', () => {
  it('is data whatever it looks like', async () => {
    const result = { ok: false, error: 'not ours' };
    const fixture = await withUpstream();
    fixture.upstream.execution = () => result;
    const call = await submitted(fixture, 'github.search');
    await settled();
    expect(await fixture.store.findCall(call.id)).toMatchObject({
      source: 'mcp',
      clientId: null,
      state: { name: 'COMPLETED', resultJson: JSON.stringify(result) },
    });
  });
});

describe('a contract that changed', () => {
  it('makes every call ask, with the differences, until an operator accepts it; a restart changes nothing', async () => {
    const before = await withUpstream();
    before.upstream.lists([CHANGED]);
    const call = await submitted(before, 'github.search');
    expect(call.state.name).toBe('APPROVAL_REQUIRED');
    expect(call.decision).toMatchObject({
      rule: 'contract',
      reasons: [{ code: 'contract_changed' }],
      meta: {
        contract_change: {
          differences: [{ path: '/description', before: 'does something', after: 'does something else' }],
        },
      },
    });
    await settled();
    const after = await restarted(before);
    after.upstream.lists([CHANGED]);
    expect((await submitted(after, 'github.search')).state.name).toBe('APPROVAL_REQUIRED');
    const { version } = after.engine.tool(me, 'github.search')!;
    const accept = (wanted: string) =>
      after.engine.upstreams.accept(operator, 'github', { 'github.search': wanted });
    expect(await accept('another')).toMatchObject({ code: 'conflict' });
    expect(await accept(version)).toEqual(['github.search']);
    expect((await submitted(after, 'github.search')).state.name).not.toBe('APPROVAL_REQUIRED');
    expect((await rows(after, 'upstream.changed')).at(-1)).toMatchObject({
      upstream: 'github',
      accepted: { 'github.search': expect.any(String) as string },
      by: OPERATOR_NAME,
    });
    const again = await restarted(after);
    again.upstream.lists([CHANGED]);
    expect((await submitted(again, 'github.search')).state.name).not.toBe('APPROVAL_REQUIRED');
  });

  it('may be accepted while a call that was approved under it waits for input: the call goes on', async () => {
    const fixture = await withUpstream();
    const { engine, upstream } = fixture;
    upstream.execution = (_tool, _args, { inputs }) =>
      'city' in inputs ? 'done' : new InputRequired({ city: { message: 'Which city?' } });
    upstream.lists([{ ...CHANGED, annotations: { asks_input: true } }]);
    const call = await submitted(fixture, 'github.search');
    const digest = call.approval?.digest ?? '';
    await engine.calls.decide(operator, call.id, { decision: 'allow', digest, note: null });
    await settled();
    expect((await engine.calls.find(me, call.id))?.state.name).toBe('INPUT_REQUIRED');
    const { version } = engine.tool(me, 'github.search')!;
    expect(await engine.upstreams.accept(operator, 'github', { 'github.search': version })).toHaveLength(1);
    await engine.calls.respond(me, call.id, { id: 'in_1', action: 'accept', content: {} });
    await settled();
    expect((await engine.calls.find(me, call.id))?.state).toMatchObject({
      name: 'COMPLETED',
      resultJson: '"done"',
    });
  });

  it('is shown also if a hook asks with data of its own', async () => {
    const hooks = [{ preToolUse: () => ({ decision: 'ask' as const, meta: { by: 'hook' } }) }];
    const upstream = new AnUpstream();
    const fixture = { ...(await anEngine({ upstreams: [upstream], hooks })), upstream };
    upstream.lists([SEARCH]);
    upstream.lists([CHANGED]);
    const { meta } = (await submitted(fixture, 'github.search')).decision;
    expect(meta).toMatchObject({ by: 'hook', contract_change: { differences: [{ path: '/description' }] } });
  });

  it('is noticed by its target alone', async () => {
    const fixture = await withUpstream();
    fixture.upstream.lists([{ ...SEARCH, target: { tool: 'delete_everything' } }]);
    expect((await submitted(fixture, 'github.search')).decision.rule).toBe('contract');
  });

  it('is noticed if the upstream changed while this server was stopped, or offered no tool meanwhile', async () => {
    const before = await withUpstream();
    const after = await restarted(before);
    after.upstream.lists([]);
    after.upstream.lists([CHANGED]);
    expect((await submitted(after, 'github.search')).state.name).toBe('APPROVAL_REQUIRED');
  });

  it('is noticed after a restart also if the first contract was listed while the store could not be written', async () => {
    const store = memoryStore({ digest: nodeDigest });
    const saves = vi.spyOn(store, 'saveTools').mockRejectedValue(new StorageFull());
    const upstream = new AnUpstream();
    const fixture = await anEngine({ store, upstreams: [upstream] });
    upstream.lists([SEARCH]);
    upstream.lists([]);
    upstream.lists([SEARCH, { ...SEARCH, name: 'github.other' }]);
    await fixture.clock.advance(10_000);
    saves.mockRestore();
    await fixture.clock.advance(2_000);
    expect(await rows(fixture, 'registry.changed')).toEqual([
      { pack: 'mcp:github', registered: ['github.search'] },
      { pack: 'mcp:github', removed: ['github.search'] },
      { pack: 'mcp:github', registered: ['github.search', 'github.other'] },
    ]);
    const next = await restarted(fixture);
    expect(next.engine.toolIndex.list('default').map(({ name }) => name)).toEqual([
      'github.other',
      'github.search',
    ]);
    next.upstream.lists([CHANGED]);
    expect((await submitted(next, 'github.search')).state.name).toBe('APPROVAL_REQUIRED');
  });

  it('does not keep a server that shuts down, although the store cannot be written', async () => {
    const store = memoryStore({ digest: nodeDigest });
    vi.spyOn(store, 'saveTools').mockRejectedValue(new StorageFull());
    const upstream = new AnUpstream();
    const { engine, clock } = await anEngine({ store, upstreams: [upstream] });
    upstream.lists([SEARCH]);
    await clock.advance(3_000);
    const drained = engine.drain();
    await clock.advance(3_000);
    await drained;
  });

  it('asks no more if the upstream returns to the accepted contract', async () => {
    const fixture = await withUpstream();
    fixture.upstream.lists([CHANGED]);
    fixture.upstream.lists([SEARCH]);
    expect((await submitted(fixture, 'github.search')).state.name).not.toBe('APPROVAL_REQUIRED');
  });

  it('runs under on_change: run, and is denied under refuse', async () => {
    const runs = await withUpstream(new AnUpstream({ onChange: 'run' }));
    runs.upstream.lists([CHANGED]);
    expect((await submitted(runs, 'github.search')).state.name).not.toBe('APPROVAL_REQUIRED');
    const refuses = await withUpstream(new AnUpstream({ onChange: 'refuse' }));
    refuses.upstream.lists([CHANGED]);
    expect(await refuses.engine.submit(aRequest({ toolName: 'github.search' }), me)).toMatchObject({
      kind: 'denied',
      failure: { code: 'permission_denied' },
    });
  });

  it('ends the calls that wait for a slot under the earlier contract, approved or not', async () => {
    const ask = anUpstreamTool({ name: 'github.ask', annotations: { requires_approval: true } });
    const slow = anUpstreamTool({ name: 'github.slow' });
    const fixture = await withUpstream(new AnUpstream({ concurrency: 1 }), [slow, ask, SEARCH]);
    const ran: string[] = [];
    let end = (): void => {};
    fixture.upstream.execution = ({ name }) => {
      ran.push(name);
      return name === 'github.slow' ? new Promise<void>((resolve) => (end = resolve)) : 'done';
    };
    await submitted(fixture, 'github.slow');
    const approved = await submitted(fixture, 'github.ask');
    const digest = approved.approval!.digest;
    await fixture.engine.calls.decide(operator, approved.id, { decision: 'allow', digest, note: null });
    const admitted = await submitted(fixture, 'github.search');
    await settled();
    fixture.upstream.lists([slow, { ...ask, description: 'does something else' }, CHANGED]);
    end();
    await settled();
    const codeOf = async ({ id }: Call): Promise<unknown> => (await fixture.store.findCall(id))?.state;
    expect(await codeOf(approved)).toMatchObject({ error: { code: 'approval_denied' } });
    expect(await codeOf(admitted)).toMatchObject({ error: { code: 'tool_not_found' } });
    expect(ran).toEqual(['github.slow']);
  });

  it('ends a call that was approved under the earlier contract', async () => {
    const ask = anUpstreamTool({ name: 'github.search', annotations: { requires_approval: true } });
    const fixture = await withUpstream(new AnUpstream(), [ask]);
    const ran: string[] = [];
    fixture.upstream.execution = ({ name }) => ran.push(name);
    const call = await submitted(fixture, 'github.search');
    fixture.upstream.lists([{ ...ask, description: 'does something else' }]);
    const digest = call.approval!.digest;
    await fixture.engine.calls.decide(operator, call.id, { decision: 'allow', digest, note: null });
    await settled();
    expect((await fixture.store.findCall(call.id))?.state).toMatchObject({
      error: { code: 'approval_denied' },
    });
    expect(ran).toEqual([]);
  });
});

describe('the state of an upstream', () => {
  it('is recorded when it changes, not with every attempt to connect', async () => {
    const fixture = await withUpstream();
    fixture.upstream.becomes('disconnected', 'connect ECONNREFUSED');
    fixture.upstream.becomes('connecting');
    fixture.upstream.becomes('disconnected');
    fixture.upstream.becomes('connected');
    expect(await rows(fixture, 'upstream.changed')).toEqual([
      { upstream: 'github', kind: 'mcp', state: 'connected' },
      { upstream: 'github', kind: 'mcp', state: 'disconnected', error: 'connect ECONNREFUSED' },
      { upstream: 'github', kind: 'mcp', state: 'connected' },
    ]);
  });

  it('is not recorded while the server shuts down', async () => {
    const fixture = await withUpstream();
    await fixture.engine.drain();
    fixture.upstream.becomes('disconnected');
    expect([fixture.upstream.isClosed, (await rows(fixture, 'upstream.changed')).length]).toEqual([true, 1]);
  });

  it('is published to readers of metrics whose tenant has its tools', async () => {
    const { engine, upstream } = await withUpstream(new AnUpstream({ tenants: ['acme'] }));
    const seen: unknown[] = [];
    engine.feed.listen((event) => {
      if (event.type !== 'upstream.changed') return;
      const views = [
        aPrincipal({ tenant: 'acme' }),
        aPrincipal(),
        aPrincipal({ tenant: 'acme', scopes: new Set() }),
      ];
      seen.push(...views.map((principal) => event.view?.(principal)));
    });
    upstream.becomes('failed');
    expect(seen).toMatchObject([{ upstream: 'github', state: 'failed' }, null, null]);
  });

  it('is unknown for a name that no upstream has', async () => {
    const { engine } = await withUpstream();
    expect(await engine.upstreams.restart('gitlab')).toMatchObject({ code: 'value_not_found' });
    expect(await engine.upstreams.accept(operator, 'gitlab', {})).toMatchObject({
      code: 'value_not_found',
    });
    expect(await engine.upstreams.accept(operator, 'github', { 'github.none': 'v' })).toMatchObject({
      code: 'tool_not_found',
    });
    expect(await engine.upstreams.accept(operator, 'github', {})).toEqual([]);
  });
});
