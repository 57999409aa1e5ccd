import type { ToolSpec } from '@patchboard/wire';
import { describe, expect, it } from 'vitest';
import {
  anEngine,
  aPrincipal,
  aRequest,
  aServerTool,
  type EngineFixture,
} from '../../../test/support/an-engine.ts';
import { settled } from '../../../test/support/fake-clock.ts';
import { nodeDigest } from '../../runtime/digest.ts';
import { memoryStore } from '../../store/memory/memory-store.ts';
import type { Engine } from '../engine.ts';
import type { Store } from '../ports.ts';

const T = 'default';

function aSpec(name: string, more: Partial<ToolSpec> = {}): ToolSpec {
  return { name, schema: { type: 'object' }, ...more };
}

const RISKY = aSpec('door.open', { annotations: { destructive: true } });
const PLAIN = aSpec('door.open');

/** A memory store whose tool changes wait until the test completes or fails them, one by one. */
function aHeldStore(): { store: Store; held: { go(): Promise<void>; fail(): Promise<void> }[] } {
  const held: { go(): Promise<void>; fail(): Promise<void> }[] = [];
  const store = new Proxy(memoryStore({ digest: nodeDigest }), {
    get: (target, name) => {
      const method = Reflect.get(target, name, target) as
        ((...given: unknown[]) => Promise<unknown>) | undefined;
      if (method === undefined) return method;
      if (name !== 'saveTools' && name !== 'removeTools') return method.bind(target);
      return async (...given: unknown[]) => {
        const mayGo = await new Promise<boolean>((resolve) => {
          const complete = async (verdict: boolean): Promise<void> => {
            resolve(verdict);
            await settled();
          };
          held.push({ go: () => complete(true), fail: () => complete(false) });
        });
        if (!mayGo) throw new Error('the disk is gone');
        return await method.apply(target, given);
      };
    },
  });
  return { store, held };
}

async function effectOf(engine: Engine, toolName: string): Promise<string> {
  const preview = await engine.previews.of(aRequest({ toolName }), aPrincipal());
  return preview.ok ? preview.value.decision.effect : preview.failure.code;
}

async function changes({ store }: EngineFixture): Promise<unknown[]> {
  const rows = await store.readLedger({ kinds: ['registry.changed'] }, 0, 100);
  return rows.map(({ row }) => JSON.parse(row.body) as unknown);
}

describe('a name in a store that two engines share', () => {
  it('is refused to another client, and the other tools of the request are registered', async () => {
    const { engine: here, store } = await anEngine({});
    const { engine: there } = await anEngine({ store });
    await there.clientTools.register(T, 'kiosk', [aSpec('lamp.on')]);
    const report = await here.clientTools.register(T, 'phone', [aSpec('lamp.off'), aSpec('lamp.on')]);
    expect(report.registered.map(({ name }) => name)).toEqual(['lamp.off']);
    expect(report.rejected).toMatchObject([
      {
        name: 'lamp.on',
        code: 'name_taken',
        reason: expect.stringContaining('lamp.on belongs to client kiosk of this tenant') as string,
      },
    ]);
    expect(here.toolIndex.find(T, 'lamp.on')).toBeUndefined();
    expect((await store.tools()).map(({ clientId, spec }) => `${clientId} ${spec.name}`).toSorted()).toEqual([
      'kiosk lamp.on',
      'phone lamp.off',
    ]);
  });

  it('is free if the stored tool was left out at the start', async () => {
    const { engine: before, store } = await anEngine({});
    await before.clientTools.register(T, 'kiosk', [aSpec('lamp.on', { timeout_ms: 60_000 })]);
    const fixture = await anEngine({ store, limits: { maxTimeoutMs: 5000 } });
    const { registered } = await fixture.engine.clientTools.register(T, 'phone', [aSpec('lamp.on')]);
    expect(registered.map(({ clientId }) => clientId)).toEqual(['phone']);
    expect((await store.tools()).map(({ clientId }) => clientId)).toEqual(['phone']);
    expect((await changes(fixture)).slice(1)).toEqual([
      { client_id: 'kiosk', removed: ['lamp.on'] },
      { client_id: 'phone', registered: ['lamp.on'] },
    ]);
  });
});

describe('the limits in force', () => {
  it('bound the timeout of a client tool', async () => {
    const { engine } = await anEngine({ limits: { maxTimeoutMs: 60_000 } });
    const specs = [aSpec('slow', { timeout_ms: 60_001 }), aSpec('quick', { timeout_ms: 60_000 })];
    expect(await engine.clientTools.register(T, 'c_1', specs)).toMatchObject({
      registered: [{ name: 'quick', timeoutMs: 60_000 }],
      rejected: [{ name: 'slow', code: 'body_invalid', reason: expect.stringContaining('1 to 60000') }],
    });
  });
});

describe('changes of the tools of a tenant', () => {
  it.each([
    ['first', 'shift'],
    ['last', 'pop'],
  ] as const)(
    'run one after the other: a tool registered while it is being removed stays, with the %s write completed first',
    async (_, next) => {
      const { store, held } = aHeldStore();
      const { engine } = await anEngine({ store });
      const first = engine.clientTools.register(T, 'kiosk', [PLAIN]);
      await settled();
      await held.shift()?.go();
      await first;
      const removing = engine.clientTools.unregister(T, 'kiosk', 'door.open');
      await settled();
      const again = engine.clientTools.register(T, 'kiosk', [aSpec('door.open', { description: 'newer' })]);
      await settled();
      while (held.length > 0) await held[next]()?.go();
      expect(await removing).toEqual(['door.open']);
      expect((await again).registered).toHaveLength(1);
      expect(engine.toolIndex.find(T, 'door.open')?.description).toBe('newer');
      expect(await store.tools()).toMatchObject([{ spec: { description: 'newer' } }]);
    },
  );

  it('do not wait for changes of another tenant', async () => {
    const { store, held } = aHeldStore();
    const { engine } = await anEngine({ store });
    const slow = engine.clientTools.register(T, 'kiosk', [PLAIN]);
    await settled();
    const other = engine.clientTools.register('other', 'kiosk', [PLAIN]);
    await settled();
    await held.pop()?.go();
    expect((await other).registered).toHaveLength(1);
    await held.pop()?.go();
    await slow;
  });

  it('that cannot be stored are rolled back, and the next change proceeds', async () => {
    const { store, held } = aHeldStore();
    const { engine } = await anEngine({ store });
    const first = engine.clientTools.register(T, 'kiosk', [PLAIN]);
    await settled();
    await held.shift()?.go();
    await first;
    const stands = engine.toolIndex.find(T, 'door.open');
    const failing = engine.clientTools.register(T, 'kiosk', [
      aSpec('door.open', { description: 'newer' }),
      aSpec('door.open', { description: 'newest' }),
      aSpec('door.close'),
    ]);
    const refused = expect(failing).rejects.toThrow('the disk is gone');
    await settled();
    await held.shift()?.fail();
    await refused;
    expect(engine.toolIndex.list(T)).toEqual([stands]);
    expect(engine.toolIndex.find(T, stands!.wireName)).toBe(stands);
    const next = engine.clientTools.register(T, 'kiosk', [aSpec('door.close')]);
    await settled();
    await held.shift()?.go();
    expect((await next).registered).toHaveLength(1);
  });
});

describe('the risk of a name', () => {
  it('stays when the tool is registered again without it, and the ledger records it', async () => {
    const fixture = await anEngine({});
    const { clientTools } = fixture.engine;
    await clientTools.register(T, 'kiosk', [RISKY]);
    const { registered } = await clientTools.register(T, 'kiosk', [
      aSpec('door.open', { annotations: { destructive: false, idempotent: true } }),
    ]);
    expect(registered[0]?.annotations).toEqual({ destructive: true, idempotent: true });
    expect(await effectOf(fixture.engine, 'door.open')).toBe('ask');
    expect(await changes(fixture)).toEqual([
      { client_id: 'kiosk', registered: ['door.open'] },
      { client_id: 'kiosk', registered: ['door.open'], changed: ['door.open'], kept_risk: ['door.open'] },
    ]);
  });

  it('accumulates, also within one request', async () => {
    const { engine } = await anEngine({});
    const approval = aSpec('door.open', { annotations: { requires_approval: true } });
    await engine.clientTools.register(T, 'kiosk', [RISKY, approval, PLAIN]);
    expect(engine.toolIndex.find(T, 'door.open')?.annotations).toEqual({
      destructive: true,
      requires_approval: true,
    });
  });

  it('outlives the tool, its client and the process, and is separate per tenant', async () => {
    const first = await anEngine({});
    await first.engine.clientTools.register(T, 'kiosk', [RISKY]);
    await first.engine.clientTools.unregister(T, 'kiosk', null);
    const { engine } = await anEngine({ store: first.store });
    await engine.clientTools.register(T, 'stranger', [PLAIN]);
    await engine.clientTools.register('other', 'stranger', [PLAIN]);
    expect(await effectOf(engine, 'door.open')).toBe('ask');
    expect(engine.toolIndex.find('other', 'door.open')?.annotations).toEqual({});
  });

  it('of a tool stored by a version without risk records is remembered too', async () => {
    const { store } = await anEngine({});
    const entry = {
      kind: 'registry.changed',
      tenant: T,
      at: 0,
      callId: null,
      traceId: null,
      body: '{}',
    } as const;
    const stored = { tenant: T, clientId: 'kiosk', wireName: 'door__open', spec: RISKY, registeredAt: 0 };
    await store.saveTools([stored], entry);
    const second = await anEngine({ store });
    await second.engine.clientTools.unregister(T, 'kiosk', 'door.open');
    const third = await anEngine({ store });
    await third.engine.clientTools.register(T, 'kiosk', [PLAIN]);
    expect(await effectOf(third.engine, 'door.open')).toBe('ask');
  });

  it('that cannot be read counts as every risk', async () => {
    const { store } = await anEngine({});
    await store.putDocument('risk', `${T} door.open`, '{"destr', []);
    const { engine } = await anEngine({ store });
    await engine.clientTools.register(T, 'kiosk', [PLAIN]);
    expect(engine.toolIndex.find(T, 'door.open')?.annotations).toEqual({
      destructive: true,
      requires_approval: true,
    });
  });

  it('is lowered by an operator, who is named in the ledger', async () => {
    const fixture = await anEngine({});
    const { clientTools } = fixture.engine;
    await clientTools.register(T, 'kiosk', [RISKY]);
    await clientTools.register(T, 'kiosk', [PLAIN], 'olga');
    expect(await effectOf(fixture.engine, 'door.open')).toBe('allow');
    expect((await changes(fixture)).at(-1)).toEqual({
      client_id: 'kiosk',
      registered: ['door.open'],
      changed: ['door.open'],
      lowered_risk: ['door.open'],
      by: 'olga',
    });
    const { engine } = await anEngine({ store: fixture.store });
    await engine.clientTools.register(T, 'kiosk', [PLAIN]);
    expect(await effectOf(engine, 'door.open')).toBe('allow');
    expect(await fixture.store.documents('risk')).toEqual([]);
  });

  it('is forgotten by an operator, with or without the tool', async () => {
    const fixture = await anEngine({});
    const { clientTools } = fixture.engine;
    await clientTools.register(T, 'kiosk', [
      RISKY,
      aSpec('gate.open', { annotations: { destructive: true } }),
    ]);
    await clientTools.unregister(T, 'kiosk', 'gate.open');
    expect(await clientTools.forgetRisk(T, 'kiosk', 'door.open', 'olga')).toEqual({
      removed: ['door.open'],
      hadRisk: true,
    });
    expect(await clientTools.forgetRisk(T, 'kiosk', 'gate.open', 'olga')).toEqual({
      removed: [],
      hadRisk: true,
    });
    expect(await clientTools.forgetRisk(T, 'kiosk', 'gate.open', 'olga')).toEqual({
      removed: [],
      hadRisk: false,
    });
    expect(await fixture.store.documents('risk')).toEqual([]);
    expect((await changes(fixture)).slice(-2)).toEqual([
      { client_id: 'kiosk', removed: ['door.open'], forgotten_risk: ['door.open'], by: 'olga' },
      { client_id: 'kiosk', removed: [], forgotten_risk: ['gate.open'], by: 'olga' },
    ]);
    const { engine } = await anEngine({ store: fixture.store });
    await engine.clientTools.register(T, 'kiosk', [PLAIN]);
    expect(await effectOf(engine, 'door.open')).toBe('allow');
  });

  it('is not raised by a registration that could not be stored', async () => {
    const { store, held } = aHeldStore();
    const { engine } = await anEngine({ store });
    const failing = engine.clientTools.register(T, 'kiosk', [RISKY]);
    const refused = expect(failing).rejects.toThrow('the disk is gone');
    await settled();
    await held.shift()?.fail();
    await refused;
    const next = engine.clientTools.register(T, 'kiosk', [PLAIN]);
    await settled();
    await held.shift()?.go();
    expect((await next).registered[0]?.annotations).toEqual({});
  });

  it('is remembered for a bounded number of names; one must be forgotten before the next', async () => {
    const { engine } = await anEngine({ limits: { toolsPerTenant: 2 } });
    const risky = (name: string): ToolSpec => aSpec(name, { annotations: { destructive: true } });
    await engine.clientTools.register(T, 'kiosk', [risky('a'), risky('b')]);
    await engine.clientTools.unregister(T, 'kiosk', null);
    const { registered, rejected } = await engine.clientTools.register(T, 'kiosk', [risky('c'), risky('a')]);
    expect(registered.map(({ name }) => name)).toEqual(['a']);
    expect(rejected).toMatchObject([
      { name: 'c', code: 'too_large', reason: expect.stringMatching(/risk/) as string },
    ]);
  });
});

describe("the size of a tenant's client tools", () => {
  const code = async (fixture: EngineFixture, spec: ToolSpec): Promise<string | undefined> =>
    (await fixture.engine.clientTools.register(T, 'kiosk', [spec])).rejected[0]?.code;

  it('is bounded for a description and for metadata, in bytes', async () => {
    const fixture = await anEngine({});
    expect(await code(fixture, aSpec('a', { description: 'x'.repeat(8192) }))).toBeUndefined();
    expect(await code(fixture, aSpec('b', { description: 'x'.repeat(8193) }))).toBe('too_large');
    expect(await code(fixture, aSpec('c', { description: '天'.repeat(2731) }))).toBe('too_large');
    expect(await code(fixture, aSpec('d', { metadata: { a: 'x'.repeat(16_376) } }))).toBeUndefined();
    expect(await code(fixture, aSpec('e', { metadata: { a: 'x'.repeat(16_377) } }))).toBe('too_large');
  });

  it('is bounded in tools over all clients of the tenant', async () => {
    const { engine } = await anEngine({
      limits: { toolsPerTenant: 3 },
      tools: [aServerTool({ name: 'own' })],
    });
    await engine.clientTools.register(T, 'one', [aSpec('a'), aSpec('b')]);
    const { rejected } = await engine.clientTools.register(T, 'two', [aSpec('c'), aSpec('d')]);
    expect(rejected).toMatchObject([
      { name: 'd', code: 'too_large', reason: 'the clients of a tenant may register at most 3 tools' },
    ]);
    expect((await engine.clientTools.register(T, 'one', [aSpec('a')])).rejected).toEqual([]);
    expect((await engine.clientTools.register('other', 'two', [aSpec('d')])).rejected).toEqual([]);
    await engine.clientTools.unregister(T, 'one', 'a');
    expect((await engine.clientTools.register(T, 'two', [aSpec('d')])).rejected).toEqual([]);
  });

  it('is bounded in bytes of all tools together; replacing one counts once', async () => {
    const { engine } = await anEngine({ limits: { toolBytesPerTenant: 2000 } });
    const large = (name: string): ToolSpec => aSpec(name, { description: 'x'.repeat(900) });
    const register = async (spec: ToolSpec): Promise<readonly unknown[]> =>
      (await engine.clientTools.register(T, 'kiosk', [spec])).rejected;
    expect(await register(large('a'))).toEqual([]);
    expect(await register(large('b'))).toEqual([]);
    expect(await register(large('c'))).toMatchObject([
      { name: 'c', code: 'too_large', reason: 'the tools of a tenant may take at most 2000 bytes together' },
    ]);
    expect(await register(large('b'))).toEqual([]);
    await engine.clientTools.unregister(T, 'kiosk', 'a');
    expect(await register(large('c'))).toEqual([]);
  });
});

describe('a name of dots', () => {
  it.each(['.', '..', '...'])('%s is refused: no URL can hold it', async (name) => {
    const { engine } = await anEngine({});
    const { rejected } = await engine.clientTools.register(T, 'kiosk', [aSpec(name)]);
    expect(rejected).toMatchObject([
      { code: 'name_invalid', reason: expect.stringContaining('dots') as string },
    ]);
    expect(() => engine.addPack({ name: 'p', tools: [aServerTool({ name })] })).toThrow('bad tool name');
  });
});
