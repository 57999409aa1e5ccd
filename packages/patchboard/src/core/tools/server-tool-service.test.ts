import { describe, expect, it } from 'vitest';
import {
  accepted,
  anEngine,
  aPrincipal,
  aRequest,
  aServerTool,
  manualTool,
  type EngineFixture,
} from '../../../test/support/an-engine.ts';
import { settled } from '../../../test/support/fake-clock.ts';
import type { Call } from '../call/call.ts';
import type { ToolSupply } from './tool-rules.ts';

const me = aPrincipal();
const UPSTREAM: ToolSupply = { origin: 'outside', source: 'mcp', pack: 'mcp:github' };

async function submitted({ engine }: EngineFixture, toolName: string): Promise<Call> {
  return accepted(await engine.submit(aRequest({ toolName }), me));
}

async function rows({ store }: EngineFixture): Promise<unknown[]> {
  await settled();
  const found = await store.readLedger({ kinds: ['registry.changed'] }, 0, 100);
  return found.map(({ row }) => JSON.parse(row.body) as unknown);
}

describe('a batch of tools from outside', () => {
  it('is added under its pack and source with one ledger row, and removed with a second', async () => {
    const fixture = await anEngine({});
    const { engine } = fixture;
    const tools = [aServerTool({ name: 'github.a' }), aServerTool({ name: 'github.b' })];
    expect(engine.serverTools.addBatch(tools, UPSTREAM)).toMatchObject({
      registered: [
        { name: 'github.a', source: 'mcp', pack: 'mcp:github' },
        { name: 'github.b', source: 'mcp', pack: 'mcp:github' },
      ],
      rejected: [],
    });
    engine.serverTools.add(aServerTool({ name: 'own' }));
    expect(engine.serverTools.removePack('mcp:github')).toEqual(['github.a', 'github.b']);
    expect(engine.toolIndex.list('default').map(({ name }) => name)).toEqual(['own']);
    expect(await rows(fixture)).toEqual([
      { registered: ['github.a', 'github.b'], pack: 'mcp:github' },
      { registered: ['own'] },
      { removed: ['github.a', 'github.b'], pack: 'mcp:github' },
    ]);
  });

  it('is offered only to tenants that have the pack', async () => {
    const { engine } = await anEngine({});
    engine.tenants.mustBeNamed('mcp:github');
    engine.tenants.replace('acme', { sites: null, packs: ['mcp:github'], limits: {} });
    engine.serverTools.addBatch([aServerTool({ name: 'github.a' })], UPSTREAM);
    const seenBy = (tenant: string) => engine.toolIndex.find(tenant, 'github.a')?.name;
    expect([seenBy('acme'), seenBy('default')]).toEqual(['github.a', undefined]);
  });

  it('is checked by the rules for tools from outside, tool by tool', async () => {
    const { engine } = await anEngine({ limits: { toolDescriptionBytes: 20 } });
    const hidden = aServerTool({ name: 'github.hidden', description: 'reads\u200b files' });
    const long = aServerTool({ name: 'github.long', description: 'x'.repeat(21) });
    const plain = aServerTool({ name: 'github.plain' });
    const { registered, rejected } = engine.serverTools.addBatch([hidden, long, plain], UPSTREAM);
    expect(registered.map(({ name }) => name)).toEqual(['github.plain']);
    expect(rejected.map(({ name, code }) => [name, code])).toEqual([
      ['github.hidden', 'schema_invalid'],
      ['github.long', 'too_large'],
    ]);
    expect(engine.serverTools.add(long)).toMatchObject({ ok: true });
  });

  it('keeps the risk that a name ever had, over a restart too, and lists changed contracts', async () => {
    const before = await anEngine({});
    const risky = aServerTool({ name: 'github.drop', annotations: { destructive: true } });
    const tame = aServerTool({ name: 'github.drop', description: 'harmless' });
    before.engine.serverTools.addBatch([risky], UPSTREAM);
    before.engine.serverTools.removePack('mcp:github');
    const [again] = before.engine.serverTools.addBatch([tame], UPSTREAM).registered;
    expect(again?.annotations).toEqual({ destructive: true });
    expect((await submitted(before, 'github.drop')).state.name).toBe('APPROVAL_REQUIRED');
    expect((await rows(before)).at(-1)).toMatchObject({ changed: ['github.drop'] });
    const { store, clock } = before;
    const after = await anEngine({ store, clock });
    const [restarted] = after.engine.serverTools.addBatch([tame], UPSTREAM).registered;
    expect(restarted?.annotations).toEqual({ destructive: true });
  });

  it('may have as many risky names as a tenant may have client tools', async () => {
    const { engine } = await anEngine({ limits: { toolsPerTenant: 1 } });
    const risky = (name: string) => aServerTool({ name, annotations: { destructive: true } });
    const { registered, rejected } = engine.serverTools.addBatch(
      [risky('github.a'), risky('github.b')],
      UPSTREAM,
    );
    expect([registered.length, rejected.map(({ code }) => code)]).toEqual([1, ['too_large']]);
  });
});

describe('a call of a tool from outside', () => {
  it('runs in this process, waits for slots, and its result is data whatever it looks like', async () => {
    const result = { ok: false, error: 'not ours' };
    const fixture = await anEngine({});
    fixture.engine.serverTools.addBatch([aServerTool({ name: 'github.a', execute: () => result })], UPSTREAM);
    const call = await submitted(fixture, 'github.a');
    await settled();
    expect(await fixture.store.findCall(call.id)).toMatchObject({
      source: 'mcp',
      clientId: null,
      state: { name: 'COMPLETED', resultJson: JSON.stringify(result) },
    });
  });

  it('fails with queue_timeout if it waits too long for a slot', async () => {
    const fixture = await anEngine({ limits: { concurrencyServer: 1 } });
    const { tool } = manualTool('github.a', { timeoutMs: 600_000 });
    fixture.engine.serverTools.addBatch([tool], UPSTREAM);
    await submitted(fixture, 'github.a');
    const waiting = await submitted(fixture, 'github.a');
    await fixture.clock.advance(fixture.engine.limits.queueWaitMs + 1000);
    expect((await fixture.store.findCall(waiting.id))?.state).toMatchObject({
      name: 'FAILED',
      error: { code: 'queue_timeout', outcome: 'not_started' },
    });
  });
});

describe('a tool of this process', () => {
  it('shares a slot with other tools that name the same slot', async () => {
    const slot = { name: 'upstream:github', limit: 1 };
    const first = manualTool('github.a', { slot });
    const second = manualTool('github.b', { slot });
    const free = manualTool('own');
    const fixture = await anEngine({ tools: [first.tool, second.tool, free.tool] });
    const ahead = await submitted(fixture, 'github.a');
    const behind = await submitted(fixture, 'github.b');
    const beside = await submitted(fixture, 'own');
    await settled();
    expect([second.running.has(behind.id), free.running.has(beside.id)]).toEqual([false, true]);
    first.running.get(ahead.id)!.resolve(1);
    await settled();
    expect(second.running.has(behind.id)).toBe(true);
  });

  it('needs a slot with a limit of at least 1', async () => {
    const { engine } = await anEngine({});
    const tool = aServerTool({ name: 'a', slot: { name: 's', limit: 0 } });
    expect(engine.serverTools.add(tool)).toMatchObject({ ok: false, code: 'schema_invalid' });
  });

  it('is online while isOnline returns true', async () => {
    let isUp = false;
    const tools = [aServerTool({ name: 'up', isOnline: () => isUp }), aServerTool({ name: 'plain' })];
    const { engine } = await anEngine({ tools });
    const online = async (toolName: string) => {
      const preview = await engine.previews.of(aRequest({ toolName }), me);
      return preview.ok && preview.value.route.online;
    };
    expect([await online('up'), await online('plain')]).toEqual([false, true]);
    isUp = true;
    expect(await online('up')).toBe(true);
  });

  it('exposes whether its calls are tasks', async () => {
    const tools = [aServerTool({ name: 'long', task: 'always' }), aServerTool({ name: 'short' })];
    const { engine } = await anEngine({ tools });
    expect(tools.map(({ name }) => engine.toolIndex.find('default', name)?.task)).toEqual(['always', null]);
  });
});
