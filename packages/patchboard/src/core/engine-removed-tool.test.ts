import { describe, expect, it } from 'vitest';
import { aDevice } from '../../test/support/a-device.ts';
import {
  accepted,
  anEngine,
  aPrincipal,
  aRequest,
  aServerTool,
  type EngineFixture,
} from '../../test/support/an-engine.ts';
import { settled } from '../../test/support/fake-clock.ts';
import { TenantDirectory } from './access/tenant-directory.ts';
import type { Call } from './call/call.ts';
import type { Store } from './ports.ts';

const me = aPrincipal();

/** The commit of a new call takes until the test lets it through, as on a busy disk. */
function holdInsert(store: Store): () => void {
  let open = (): void => {};
  const gate = new Promise<void>((resolve) => (open = resolve));
  const insert = store.insertCall.bind(store);
  store.insertCall = async (record) => {
    await gate;
    return await insert(record);
  };
  return open;
}

async function ended({ engine }: EngineFixture, { id }: Call): Promise<Call> {
  const call = await engine.calls.follow(me, id, {});
  if (call === undefined) throw new Error(`no call ${id}`);
  return call;
}

const NOT_RUN = {
  name: 'FAILED',
  error: { code: 'tool_not_found', outcome: 'not_started', retryable: false },
};

describe('a tool that is removed while the commit that records its call is in flight', () => {
  /** `remove` happens in the middle of the commit. */
  async function raced(remove: (fixture: EngineFixture) => void) {
    const ran: string[] = [];
    const tool = aServerTool({ name: 'toy.gone', execute: () => void ran.push('made with') });
    const tenants = new TenantDirectory();
    const fixture = await anEngine({ tools: [tool], tenants, limits: { concurrencyServer: 1 } });
    const letThrough = holdInsert(fixture.store);
    const asked = fixture.engine.submit(aRequest({ toolName: 'toy.gone' }), me);
    await settled();
    expect(fixture.engine.load().executing).toBe(1);
    remove(fixture);
    letThrough();
    const call = await ended(fixture, accepted(await asked));
    return { fixture, call, ran };
  }

  it('is not run, and its call gives back the slot it holds', async () => {
    const { fixture, call, ran } = await raced(({ engine }) => {
      engine.toolIndex.removeServerTool('toy.gone');
    });
    expect(call.state).toMatchObject(NOT_RUN);
    expect([ran, fixture.engine.load().executing]).toEqual([[], 0]);
    fixture.engine.serverTools.addInitial(aServerTool({ name: 'toy.next' }));
    const next = accepted(await fixture.engine.submit(aRequest({ toolName: 'toy.next' }), me));
    expect((await ended(fixture, next)).state.name).toBe('COMPLETED');
  });

  it('is not run where its pack was taken from the tenant', async () => {
    const { fixture, call, ran } = await raced(({ engine }) => {
      engine.tenants.replace('default', { sites: null, packs: [], limits: {} });
    });
    expect(call.state).toMatchObject(NOT_RUN);
    expect([ran, fixture.engine.load().executing]).toEqual([[], 0]);
  });

  it('is not replaced by another one of its name', async () => {
    const { fixture, call, ran } = await raced(({ engine }) => {
      engine.toolIndex.removeServerTool('toy.gone');
      const other = aServerTool({ name: 'toy.gone', execute: () => void ran.push('other') });
      engine.serverTools.addInitial(other);
    });
    expect(call.state).toMatchObject(NOT_RUN);
    expect([ran, fixture.engine.load().executing]).toEqual([[], 0]);
  });

  it('is not run on a device that takes it back', async () => {
    const fixture = await anEngine({});
    const { engine, store } = fixture;
    const { device, requests } = await aDevice(engine, [{ name: 'camera', schema: {} }]);
    const letThrough = holdInsert(store);
    const asked = engine.submit(aRequest({ toolName: 'camera' }), me);
    await settled();
    await engine.devices.takeBack(device, ['camera']);
    letThrough();
    const call = await ended(fixture, accepted(await asked));
    expect(call.state).toMatchObject(NOT_RUN);
    expect([requests, device.reserved, device.calls.size]).toEqual([[], 0, 0]);
  });
});
