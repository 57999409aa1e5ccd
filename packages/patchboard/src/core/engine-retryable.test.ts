import { describe, expect, it } from 'vitest';
import { aDevice } from '../../test/support/a-device.ts';
import { anEngine, aServerTool, submitted, type EngineFixture } from '../../test/support/an-engine.ts';
import { settled } from '../../test/support/fake-clock.ts';
import type { Call } from './call/call.ts';

const endless = () => new Promise<never>(() => {});

async function errorOf({ store }: EngineFixture, { id }: Call): Promise<unknown> {
  const call = await store.findCall(id);
  return call !== undefined && 'error' in call.state ? call.state.error : call?.state.name;
}

describe.each([false, true])('retryable, of a tool that is idempotent: %s', (idempotent) => {
  const annotations = { idempotent };
  const camera = { name: 'camera', schema: {}, timeout_ms: 1000, annotations };

  it('agrees with the outcome when a device gives no result in time', async () => {
    const fixture = await anEngine({});
    await aDevice(fixture.engine, [camera]);
    const call = await submitted(fixture, 'camera');
    await fixture.clock.advance(2000);
    expect(await errorOf(fixture, call)).toMatchObject({
      code: 'timeout',
      outcome: 'unknown',
      retryable: idempotent,
    });
  });

  it('agrees with the outcome when a server tool gives no result in time', async () => {
    const slow = aServerTool({ name: 'slow', timeoutMs: 1000, annotations, execute: endless });
    const fixture = await anEngine({ tools: [slow] });
    const call = await submitted(fixture, 'slow');
    await fixture.clock.advance(2000);
    expect(await errorOf(fixture, call)).toMatchObject({
      code: 'timeout',
      outcome: 'unknown',
      retryable: idempotent,
    });
  });

  it('agrees with the outcome when the device goes away during the call', async () => {
    const fixture = await anEngine({});
    const { device } = await aDevice(fixture.engine, [camera]);
    const call = await submitted(fixture, 'camera');
    fixture.engine.devices.disconnect(device, 'left');
    await settled();
    expect(await errorOf(fixture, call)).toMatchObject({
      code: 'provider_disconnected',
      outcome: 'unknown',
      retryable: idempotent,
    });
  });

  it('is true when the device disconnects before it gets the request', async () => {
    const fixture = await anEngine({});
    const { device } = await aDevice(fixture.engine, [camera]);
    const insert = fixture.store.insertCall.bind(fixture.store);
    fixture.store.insertCall = async (record) => {
      const inserted = await insert(record);
      fixture.engine.devices.disconnect(device, 'left');
      return inserted;
    };
    const call = await submitted(fixture, 'camera');
    await settled();
    expect(await errorOf(fixture, call)).toMatchObject({
      code: 'provider_disconnected',
      outcome: 'not_started',
      retryable: true,
    });
  });

  it('agrees with the outcome when the server stops during the call', async () => {
    const slow = aServerTool({ name: 'slow', annotations, execute: endless });
    const fixture = await anEngine({ tools: [slow], limits: { drainMs: 1000 } });
    const call = await submitted(fixture, 'slow');
    const drained = fixture.engine.drain();
    await settled();
    await fixture.clock.advance(1000);
    await drained;
    expect(await errorOf(fixture, call)).toMatchObject({
      code: 'interrupted',
      outcome: 'unknown',
      retryable: idempotent,
    });
  });
});
