import { isOpen, type Call } from '../call/call.ts';
import type { Lifecycle } from '../call/lifecycle.ts';
import { isOurs, type LiveCall } from '../call/live-call.ts';
import type { Store } from '../ports.ts';
import { hasBegun, worksOn } from './client-call.ts';
import type { Device } from './device.ts';
import type { DeviceProvider } from './device-provider.ts';
import { parseRequestId } from './request-id.ts';

export interface DeviceCallsElsewhereParts {
  readonly store: Store;
  readonly lifecycle: Lifecycle;
  readonly provider: DeviceProvider;
}

/** Assigns the calls that a device works on to it, whichever node holds them: they become calls of this node. */
export class DeviceCallsElsewhere {
  readonly #parts: DeviceCallsElsewhereParts;

  constructor(parts: DeviceCallsElsewhereParts) {
    this.#parts = parts;
  }

  /** Takes the calls that were sent to the device in the session that it continues. */
  async takeSession(device: Device, holding: readonly string[] | null): Promise<void> {
    const { tenant, clientId, firstSession } = device;
    for await (const call of this.#parts.store.openCalls({ tenant, clientId })) {
      const isOfSession = 'deviceSession' in call.state && call.state.deviceSession === firstSession;
      const live = isOfSession ? await this.#own(call, hasBegun) : null;
      if (live !== null) this.#assign(live, device, holding);
    }
  }

  /** Takes the calls that the device reports as running, and cancels those that have ended. */
  async claim(device: Device, holding: readonly string[]): Promise<void> {
    for (const id of holding) {
      const live = await this.#held(device, id);
      if (live === null) device.link?.cancel(id, 'ended');
      // Also if another connection has it: the last device to claim it wins.
      else if (this.#parts.provider.deviceOf(live) !== device) this.#assign(live, device, null);
    }
  }

  async #held(device: Device, id: string): Promise<LiveCall | null> {
    const request = parseRequestId(id);
    const call = request === null ? undefined : await this.#parts.store.findCall(request.callId);
    if (request === null || call === undefined) return null;
    return await this.#own(call, (current) => worksOn(device, current, request));
  }

  /** Makes the call one of this node. Null if it ended, or is no longer `wanted`. */
  async #own(stored: Call, wanted: (call: Call) => boolean): Promise<LiveCall | null> {
    const { lifecycle } = this.#parts;
    for (let call = stored; isOpen(call) && wanted(call);) {
      await lifecycle.forgetOlder(call);
      const live = lifecycle.reach(call);
      if (live === undefined) return null;
      if (live.ownership !== 'borrowed') {
        if (isOurs(live)) return live;
      } else if (await lifecycle.claim(live)) return live;
      ({ call } = live);
    }
    return null;
  }

  #assign(live: LiveCall, device: Device, holding: readonly string[] | null): void {
    const { provider } = this.#parts;
    // It has disconnected meanwhile: the call waits for it as after a restart.
    if (device.link === null) provider.start(live);
    else provider.reassign(live, device, holding);
  }
}
