import type { ToolSpec } from '@patchboard/wire';
import { describe, expect, it } from 'vitest';
import { anEngine, aPrincipal, aRequest, aServerTool, accepted } from '../../../test/support/an-engine.ts';
import { settled } from '../../../test/support/fake-clock.ts';
import { nodeDigest } from '../../runtime/digest.ts';
import { memoryStore } from '../../store/memory/memory-store.ts';
import type { Engine } from '../engine.ts';
import type { Store } from '../ports.ts';
import type { StoredTool } from './registered-tool.ts';

const T = 'default';
const agent = aPrincipal();
/** 61 characters, as the wire name of earlier versions. */
const DOTTED = `gallery.${'a_long_folder_name.'.repeat(2)}photo_export`;
const PLAIN = DOTTED.replaceAll('.', '__');
/** Longer than 64 characters, so that earlier versions shortened it with a hash. */
const LONG = `gallery.${'x'.repeat(90)}`;
const LONG_BEFORE = `${`gallery__${'x'.repeat(90)}`.slice(0, 55)}_${nodeDigest.sha256(LONG).slice(0, 8)}`;

function stored(name: string, wireName: string, clientId = 'phone'): StoredTool {
  const spec: ToolSpec = { name, schema: { type: 'object' } };
  return { tenant: T, clientId, wireName, spec, registeredAt: 0 };
}

async function aStoreWith(...tools: readonly StoredTool[]): Promise<Store> {
  const store = memoryStore({ digest: nodeDigest });
  const row = {
    kind: 'registry.changed',
    tenant: T,
    at: 0,
    callId: null,
    traceId: null,
    body: '{}',
  } as const;
  await store.saveTools(tools, row);
  return store;
}

async function toolCalledAs(engine: Engine, toolName: string): Promise<string> {
  const { id } = accepted(await engine.submit(aRequest({ toolName }), agent));
  await settled();
  return (await engine.calls.find(agent, id))?.toolName ?? '';
}

describe('a wire name longer than 48 characters', () => {
  it('of a stored client tool is made anew, and stays callable without being listed', async () => {
    const store = await aStoreWith(stored(DOTTED, PLAIN), stored(LONG, LONG_BEFORE));
    const { engine } = await anEngine({ store });
    const listed = engine.tools(agent);
    expect(listed.map(({ name }) => name)).toEqual([DOTTED, LONG]);
    for (const { wireName } of listed) expect(wireName.length).toBeLessThanOrEqual(48);
    for (const [name, before] of [
      [DOTTED, PLAIN],
      [LONG, LONG_BEFORE],
    ] as const) {
      const wireName = engine.tool(agent, name)?.wireName ?? '';
      expect(wireName).not.toBe(before);
      for (const called of [name, wireName, before]) expect(await toolCalledAs(engine, called)).toBe(name);
    }
  });

  it('stays callable after the client has registered its tool again, and goes with the tool', async () => {
    const store = await aStoreWith(stored(DOTTED, PLAIN));
    const first = await anEngine({ store });
    const changed = { name: DOTTED, description: 'new', schema: {} };
    expect((await first.engine.clientTools.register(T, 'phone', [changed])).rejected).toEqual([]);
    const { engine } = await anEngine({ store });
    expect(await toolCalledAs(engine, PLAIN)).toBe(DOTTED);
    await engine.clientTools.unregister(T, 'phone', null);
    expect(engine.tool(agent, PLAIN)).toBeUndefined();
  });

  it('of a stored client tool never becomes a name that another stored tool has', async () => {
    const { engine: other } = await anEngine({ store: await aStoreWith(stored(DOTTED, PLAIN)) });
    const { wireName } = other.tool(agent, DOTTED)!;
    const store = await aStoreWith(stored(DOTTED, PLAIN), stored(wireName, wireName, 'tablet'));
    const { engine } = await anEngine({ store });
    expect(await toolCalledAs(engine, wireName)).toBe(wireName);
    expect(await toolCalledAs(engine, DOTTED)).toBe(DOTTED);
    expect(engine.tool(agent, DOTTED)?.wireName).not.toBe(wireName);
  });

  it('of a server tool stays callable, and is listed in its new form', async () => {
    const { engine } = await anEngine({});
    engine.addPack({ name: 'gallery', tools: [DOTTED, LONG].map((name) => aServerTool({ name })) });
    for (const { wireName } of engine.tools(agent)) expect(wireName.length).toBeLessThanOrEqual(48);
    expect(await toolCalledAs(engine, PLAIN)).toBe(DOTTED);
    expect(await toolCalledAs(engine, LONG_BEFORE)).toBe(LONG);
    engine.serverTools.remove([DOTTED, LONG]);
    expect(engine.tool(agent, PLAIN)).toBeUndefined();
  });

  it('never leads to another tool than the one of that name', async () => {
    const own = aServerTool({ name: PLAIN });
    const { engine } = await anEngine({ tools: [own], store: await aStoreWith(stored(DOTTED, PLAIN)) });
    expect(await toolCalledAs(engine, PLAIN)).toBe(PLAIN);
    expect(await toolCalledAs(engine, DOTTED)).toBe(DOTTED);
  });

  it('is taken for a new tool, as it was before', async () => {
    const { engine } = await anEngine({ store: await aStoreWith(stored(DOTTED, PLAIN)) });
    const { rejected } = await engine.clientTools.register(T, 'tablet', [{ name: PLAIN, schema: {} }]);
    expect(rejected).toMatchObject([{ code: 'name_taken' }]);
    expect(engine.serverTools.addInitial(aServerTool({ name: PLAIN }))).toMatchObject({ ok: false });
  });
});
