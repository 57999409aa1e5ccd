import type { RejectedTool, ToolSpec } from '@patchboard/wire';
import type { Device, DeviceLink } from './device.ts';
import type { DeviceProvider } from './device-provider.ts';
import { plainRow, type LedgerDraft } from '../ledger/ledger.ts';
import type { Lifecycle } from '../call/lifecycle.ts';
import type { Limits } from '../limits.ts';
import type { LiveCall } from '../call/live-call.ts';
import type { Clock, Ids, Store } from '../ports.ts';
import { attemptToken, parseRequestId, requestId } from './request-id.ts';
import type { Tasks } from '../tasks.ts';
import { hasBegun } from './client-call.ts';
import { hasAsked, lastResponse } from './client-inputs.ts';
import type { ClientToolService } from './client-tool-service.ts';

export interface DevicesParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly limits: Limits;
  readonly tasks: Tasks;
  readonly lifecycle: Lifecycle;
  readonly clientTools: ClientToolService;
  readonly provider: DeviceProvider;
}

/** A device that connects. */
export interface ConnectRequest {
  readonly tenant: string;
  readonly clientId: string;
  /** Null: the session id serves as its name. */
  readonly name: string | null;
  readonly link: DeviceLink;
  /** True: the device receives a token to resume with. */
  readonly mayResume: boolean;
  readonly resume: string | null;
  /** Ids of requests that the device still works on or whose result was not acknowledged; null if it sends none. */
  readonly holding: readonly string[] | null;
  /** Called before any other message is sent to the device. */
  readonly greet: (device: Device, resumed: boolean) => void;
}

/** `left`: closed by the device. `lost`: may resume. `closing`: the server stops; its next process resumes the calls. */
export type DisconnectReason = 'left' | 'lost' | 'closing';

export interface OfferReport {
  readonly registered: readonly string[];
  readonly rejected: readonly RejectedTool[];
}

/** The devices that are connected or may still resume. They are keyed by session, never by name. */
export class Devices {
  readonly #parts: DevicesParts;
  readonly #bySession: Map<string, Device> = new Map();
  readonly #byToken: Map<string, Device> = new Map();
  /** Ledger rows that are not yet written. */
  readonly #unwritten: LedgerDraft[] = [];

  constructor(parts: DevicesParts) {
    this.#parts = parts;
  }

  get size(): number {
    return this.#bySession.size;
  }

  /** In order of connection. */
  of(tenant: string): Device[] {
    return [...this.#bySession.values()].filter((device) => device.tenant === tenant);
  }

  connect(given: ConnectRequest): Device {
    const { clock, ids } = this.#parts;
    const session = ids.next('ds_');
    const { tenant, clientId, link } = given;
    const device: Device = {
      session,
      tenant,
      clientId,
      name: given.name ?? session,
      connectedAt: clock.now(),
      resumeToken: given.mayResume ? ids.secret(128) : null,
      tools: new Set(),
      calls: new Set(),
      reserved: 0,
      link,
    };
    this.#bySession.set(session, device);
    if (device.resumeToken !== null) this.#byToken.set(device.resumeToken, device);
    const earlier = given.resume === null ? undefined : this.#byToken.get(given.resume);
    const isSame = earlier !== undefined && earlier.tenant === tenant && earlier.clientId === clientId;
    given.greet(device, isSame);
    if (isSame) this.#takeOver(earlier, device, given.holding);
    if (given.holding !== null) this.#claim(device, given.holding);
    this.#record(device, 'online');
    return device;
  }

  /** Registers or rejects each tool independently. */
  async offer(device: Device, specs: readonly ToolSpec[]): Promise<OfferReport> {
    const report = await this.#parts.clientTools.lend(device, specs);
    return { registered: report.registered.map(({ name }) => name), rejected: report.rejected };
  }

  /** Sends calls of these tools that waited for a device to offer them. */
  sendWaiting({ tenant, clientId, link }: Device, names: readonly string[]): void {
    if (link === null) return;
    for (const name of names) this.#parts.provider.wake(tenant, clientId, name);
  }

  /** Removes tools of the device; `names` null: all. Running calls continue. Returns the removed names. */
  async takeBack(device: Device, names: readonly string[] | null): Promise<readonly string[]> {
    const mine = [...device.tools].filter((name) => names === null || names.includes(name));
    await this.#parts.clientTools.takeBack(device, mine);
    return mine;
  }

  /** The device works on a call that was not sent to it, but polled by its client: it gets what the caller responds. */
  adopt(device: Device, requestId: string): void {
    const live = this.#held(device, requestId);
    if (live !== null && device.link !== null && this.#parts.provider.deviceOf(live) === null)
      this.#parts.provider.bind(live, device);
  }

  /** Removes the device's tools at once. Its calls end, or wait for it to resume. Idempotent. */
  disconnect(device: Device, why: DisconnectReason): void {
    if (device.link === null) return;
    const { clientTools, limits, lifecycle, tasks } = this.#parts;
    device.link = null;
    tasks.start('device tools', async () => await clientTools.takeBack(device, [...device.tools]));
    if (why === 'closing') {
      this.#forget(device);
      return;
    }
    if (why === 'left' || device.resumeToken === null || device.calls.size === 0) {
      this.#giveUp(device);
      return;
    }
    this.#record(device, 'away');
    lifecycle.wheel.after(limits.deviceGraceMs, () => this.#giveUp(device));
  }

  /** The server stops. Does not wait for the devices' close frames, which may arrive after the store is closed. */
  disconnectAll(): void {
    for (const device of this.#bySession.values()) this.disconnect(device, 'closing');
  }

  /** Moves the calls of an interrupted connection to the new connection of the same device. */
  #takeOver(earlier: Device, device: Device, holding: readonly string[] | null): void {
    const { provider } = this.#parts;
    const link = earlier.link;
    if (link !== null) {
      earlier.link = null;
      this.#parts.tasks.start('device tools', async () => {
        await this.#parts.clientTools.takeBack(earlier, [...earlier.tools]);
      });
    }
    for (const live of earlier.calls) {
      provider.bind(live, device);
      if (holding === null || holding.includes(requestId(live.call))) sendLastResponse(device, live);
      // The device listed its requests without this one. It has asked the caller, so it has begun, and lost the request.
      else if (hasAsked(live.call)) provider.lost(live);
      // The request was lost on the way and did not start.
      else device.link?.request(live.call);
    }
    this.#forget(earlier);
    link?.replaced();
  }

  /** Assigns the calls that the device works on to it, and cancels those that have ended. */
  #claim(device: Device, holding: readonly string[]): void {
    for (const id of holding) {
      const live = this.#held(device, id);
      if (live === null) device.link?.cancel(id, 'ended');
      // Also if another connection has it: the last device to claim it wins.
      else if (this.#parts.provider.deviceOf(live) !== device) {
        this.#parts.provider.bind(live, device);
        sendLastResponse(device, live);
      }
    }
  }

  #held({ tenant, clientId }: Device, id: string): LiveCall | null {
    const parsed = parseRequestId(id);
    const live = parsed === null ? undefined : this.#parts.lifecycle.find(parsed.callId);
    if (live === undefined || parsed === null) return null;
    const { call } = live;
    const isOwn = call.tenant === tenant && call.clientId === clientId;
    return isOwn && hasBegun(call) && attemptToken(call) === parsed.attemptToken ? live : null;
  }

  #giveUp(device: Device): void {
    if (!this.#forget(device)) return;
    for (const live of device.calls) this.#parts.provider.lost(live);
    this.#record(device, 'gone');
  }

  #forget(device: Device): boolean {
    if (device.resumeToken !== null) this.#byToken.delete(device.resumeToken);
    return this.#bySession.delete(device.session);
  }

  #record({ tenant, clientId, name, session }: Device, state: 'online' | 'away' | 'gone'): void {
    const row = plainRow('device.changed', tenant, this.#parts.clock.now(), {
      client_id: clientId,
      name,
      session,
      state,
    });
    this.#unwritten.push(row);
    if (this.#unwritten.length === 1) this.#parts.tasks.start('device rows', async () => await this.#flush());
  }

  async #flush(): Promise<void> {
    const { store, clock } = this.#parts;
    await new Promise<void>((resolve) => clock.after(FLUSH_MS, resolve));
    await store.append(this.#unwritten.splice(0));
  }
}

/** Delay before rows are written, so that many devices that connect or disconnect at once share one commit. */
const FLUSH_MS = 20;

/** The response may have been given while the device was disconnected. A device that has it ignores it. */
function sendLastResponse({ link }: Device, { call }: LiveCall): void {
  const round = lastResponse(call);
  if (round !== null) link?.inputGiven(call, round);
}
