import { describe, expect, it } from 'vitest';
import { aDevice } from '../../../test/support/a-device.ts';
import { anEngine, aServerTool } from '../../../test/support/an-engine.ts';
import { nodeDigest } from '../../runtime/digest.ts';
import { tool } from '../../sdk/tool.ts';
import { memoryStore } from '../../store/memory/memory-store.ts';
import { plainRow } from '../ledger/ledger.ts';

const T = 'default';
const RESERVED = ['patchboard.result', 'patchboard__result', 'Patchboard.Result', 'patchboard._x'];
const WHY = 'the prefixes patchboard. and patchboard__ are reserved';

describe('a name with the reserved prefix', () => {
  it.each(RESERVED)('%s is refused for a client tool, over HTTP and by a device', async (name) => {
    const { engine } = await anEngine({});
    const { rejected } = await engine.clientTools.register(T, 'phone', [{ name, schema: {} }]);
    expect(rejected).toMatchObject([
      { name, code: 'name_invalid', reasons: [{ code: 'name_prefix_reserved' }] },
    ]);
    expect(rejected[0]?.reason).toContain(WHY);
    const { device } = await aDevice(engine, [], 'phone');
    expect((await engine.devices.offer(device, [{ name, schema: {} }])).rejected).toMatchObject(rejected);
  });

  it.each(RESERVED)('%s is refused for a server tool, in a pack and in the SDK', async (name) => {
    const { engine } = await anEngine({});
    const added = engine.serverTools.addInitial(aServerTool({ name }));
    expect(added).toMatchObject({ ok: false, code: 'name_invalid' });
    expect(() => engine.addPack({ name: 'own', tools: [aServerTool({ name })] })).toThrow(WHY);
    expect(() => tool(name, () => 1)).toThrow(WHY);
  });

  it.each(['patchboard', 'patchboards.x', 'my.patchboard.x', 'patchboard-x', 'patchboard_x'])(
    '%s has not that prefix',
    async (name) => {
      const { engine } = await anEngine({ tools: [aServerTool({ name: 'x' })] });
      const { rejected } = await engine.clientTools.register(T, 'phone', [{ name, schema: {} }]);
      expect(rejected).toEqual([]);
    },
  );

  it('stays callable if it was stored before, and its client may register it again', async () => {
    const store = memoryStore({ digest: nodeDigest });
    const spec = { name: 'patchboard.photo', schema: {} };
    const stored = { tenant: T, clientId: 'phone', wireName: 'patchboard__photo', spec, registeredAt: 1 };
    await store.saveTools([stored], plainRow('registry.changed', T, 1, {}));
    const { engine } = await anEngine({ store });
    expect(engine.toolIndex.find(T, 'patchboard__photo')?.name).toBe(spec.name);
    const changed = { ...spec, description: 'new' };
    expect((await engine.clientTools.register(T, 'phone', [changed])).rejected).toEqual([]);
    await engine.clientTools.unregister(T, 'phone', spec.name);
    expect((await engine.clientTools.register(T, 'phone', [spec])).rejected).toHaveLength(1);
  });
});
