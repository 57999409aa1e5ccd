import { describe, expect, it } from 'vitest';
import { aDevice } from '../../../test/support/a-device.ts';
import { anEngine, aServerTool } from '../../../test/support/an-engine.ts';
import type { Engine } from '../engine.ts';

const SPEC = { name: 'lamp.on', schema: { type: 'object' } };
const RELEASE = 'DELETE /internal/clients/hall%2F1/tools/lamp.on';

async function reasonFor(engine: Engine, tenant: string, clientId: string, name: string): Promise<string> {
  const { rejected } = await engine.clientTools.register(tenant, clientId, [{ ...SPEC, name }]);
  expect(rejected).toMatchObject([{ name, code: 'name_taken' }]);
  return rejected[0]?.reason ?? '';
}

describe('a name that is taken', () => {
  it('by another client is refused with that client and how to free the name', async () => {
    const { engine } = await anEngine({});
    await engine.clientTools.register('default', 'hall/1', [SPEC]);
    const reason = await reasonFor(engine, 'default', 'desk', 'lamp.on');
    expect(reason).toContain('lamp.on belongs to client hall/1 of this tenant');
    expect(reason).toContain(RELEASE);
    await engine.clientTools.unregister('default', 'hall/1', 'lamp.on');
    expect((await engine.clientTools.register('default', 'desk', [SPEC])).rejected).toEqual([]);
  });

  it('as a wire name is refused with the tool, its client and how to free the name', async () => {
    const { engine } = await anEngine({});
    await engine.clientTools.register('default', 'hall/1', [SPEC]);
    const reason = await reasonFor(engine, 'default', 'desk', 'lamp__on');
    expect(reason).toContain('lamp__on is the wire name of lamp.on, which belongs to client hall/1');
    expect(reason).toContain(RELEASE);
  });

  it('by this server is refused without details if the tenant does not have the pack', async () => {
    const { engine } = await anEngine({ tools: [aServerTool({ name: 'toy.echo' })] });
    expect(await reasonFor(engine, 'default', 'desk', 'toy.echo')).toBe(
      'toy.echo is a tool of this server: use another name',
    );
    engine.tenants.replace('closed', { sites: null, packs: [], limits: {} });
    expect(await reasonFor(engine, 'closed', 'desk', 'toy__echo')).toBe(
      'toy__echo is reserved by this server: use another name',
    );
  });

  it('in another tenant is free', async () => {
    const { engine } = await anEngine({});
    await engine.clientTools.register('other', 'hall/1', [SPEC]);
    expect((await engine.clientTools.register('default', 'desk', [SPEC])).rejected).toEqual([]);
  });

  it('for a tool of this server is refused, naming the client only in the default tenant', async () => {
    const { engine } = await anEngine({});
    await engine.clientTools.register('other', 'hall/1', [SPEC]);
    const added = engine.serverTools.addInitial(aServerTool({ name: 'lamp.on' }));
    expect(added).toMatchObject({ ok: false, code: 'name_taken' });
    expect(JSON.stringify(added)).not.toMatch(/hall|"other"/);
    await engine.clientTools.unregister('other', 'hall/1', null);
    await engine.clientTools.register('default', 'hall/1', [SPEC]);
    expect(engine.serverTools.addInitial(aServerTool({ name: 'lamp.on' }))).toMatchObject({
      reason: expect.stringContaining(RELEASE) as string,
    });
  });

  it('by another device of the client, or by the client over HTTP, is refused with how to free it', async () => {
    const { engine } = await anEngine({});
    const other = { ...SPEC, description: 'another contract' };
    const { device } = await aDevice(engine, [SPEC], 'phone');
    const { clientTools } = engine;
    expect((await clientTools.register('default', 'phone', [other])).rejected[0]?.reason).toContain(
      'device phone of this client offers lamp.on under another contract',
    );
    engine.devices.disconnect(device, 'left');
    await clientTools.register('default', 'phone', [SPEC]);
    const second = await aDevice(engine, [], 'phone');
    const { rejected } = await engine.devices.offer(second.device, [other]);
    expect(rejected[0]?.reason).toContain('DELETE /internal/clients/phone/tools/lamp.on');
  });
});
