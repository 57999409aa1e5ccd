import { describe, expect, it } from 'vitest';
import { anEngine, aPrincipal, aRequest, type EngineFixture } from '../../../test/support/an-engine.ts';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import type { Call } from '../call/call.ts';
import type { Device, DeviceLink } from './device.ts';
import { requestId } from './request-id.ts';

const GRACE_MS = 10_000;
/** A device of the SDK backs off for the grace period, and then takes up to 40 s to reconnect to a busy server. */
const SLOWEST_RETURN_MS = GRACE_MS + 40_000;

const requests: Call[] = [];
const LINK: DeviceLink = {
  request: (call) => void requests.push(call),
  cancel: () => undefined,
  inputGiven: () => undefined,
  replaced: () => undefined,
};

function aPhone({ engine }: EngineFixture, holding: readonly string[]): Device {
  return engine.devices.connect({
    tenant: 'default',
    clientId: 'phone',
    name: 'phone',
    link: LINK,
    mayResume: true,
    resume: null,
    holding,
    greet: () => undefined,
  });
}

/** A phone works on a call when the server stops, and a second server starts with the same store. */
async function restarted(): Promise<{ next: EngineFixture; id: string; held: string }> {
  const limits = { deviceGraceMs: GRACE_MS };
  const before = await anEngine({ limits });
  const phone = aPhone(before, []);
  await before.engine.devices.offer(phone, [{ name: 'camera', schema: {}, timeout_ms: 3_600_000 }]);
  const submitted = await before.engine.submit(aRequest({ toolName: 'camera' }), aPrincipal());
  if (submitted.kind !== 'accepted') throw new Error(submitted.kind);
  const held = requestId(requests.at(-1)!);
  // A clock of its own: the timers of the first server do not count.
  const next = await anEngine({ limits, store: before.store, clock: new FakeClock(before.clock.now()) });
  return { next, id: submitted.call.id, held };
}

describe('a call that a device works on when the server restarts', () => {
  it('waits for the device that takes the longest to reconnect', async () => {
    const { next, id, held } = await restarted();
    await next.clock.advance(SLOWEST_RETURN_MS);
    aPhone(next, [held]);
    await next.clock.advance(SLOWEST_RETURN_MS);
    expect((await next.store.findCall(id))?.state.name).toBe('EXECUTING');
  });

  it('leaves no timer behind when the device has reported its result', async () => {
    const { next, id, held } = await restarted();
    const phone = aPhone(next, [held]);
    const result = { status: 'SUCCEEDED', result: 1, error: null, attemptToken: null } as const;
    await next.engine.clients.submit(aPrincipal({ clientId: 'phone' }), id, result);
    next.engine.devices.disconnect(phone, 'left');
    await next.clock.advance(1000);
    expect(next.clock.armed).toBe(0);
  });

  it('ends if the device does not reconnect', async () => {
    const { next, id } = await restarted();
    await next.clock.advance(GRACE_MS * 6);
    expect((await next.store.findCall(id))?.state).toMatchObject({
      name: 'FAILED',
      error: { code: 'provider_disconnected', outcome: 'unknown' },
    });
  });
});
