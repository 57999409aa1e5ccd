import type { RejectedTool, ToolSpec } from '@patchboard/wire';
import type { Device, DeviceLink, DisconnectReason } from './device.ts';
import type { DeviceProvider } from './device-provider.ts';
import type { Lifecycle } from '../call/lifecycle.ts';
import type { Limits } from '../limits.ts';
import type { LiveCall } from '../call/live-call.ts';
import type { Clock, Ids, Store } from '../ports.ts';
import type { MaybePromise } from '../maybe-promise.ts';
import type { Peers } from '../peers.ts';
import { parseRequestId } from './request-id.ts';
import type { Tasks } from '../tasks.ts';
import { worksOn } from './client-call.ts';
import type { ClientCallsElsewhere } from './client-calls-elsewhere.ts';
import { DeviceCallsElsewhere } from './device-calls-elsewhere.ts';
import type { CountedDevice, DeviceQuery } from '../device-directory.ts';
import { DeviceListing, onAllNodes } from './device-listing.ts';
import { DeviceRows } from './device-rows.ts';
import { DeviceSessions, type EarlierSession } from './device-sessions.ts';
import type { ClientToolService } from './client-tool-service.ts';

export interface DevicesParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly limits: Limits;
  readonly tasks: Tasks;
  readonly lifecycle: Lifecycle;
  readonly peers: Peers;
  readonly clientTools: ClientToolService;
  readonly provider: DeviceProvider;
  readonly callsElsewhere: ClientCallsElsewhere;
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
  /** With other nodes: the session that it continues, see `takeSession`. Absent: none. */
  readonly earlier?: EarlierSession | null;
  /** Ids of requests that the device still works on or whose result was not acknowledged; null if it sends none. */
  readonly holding: readonly string[] | null;
  /** Called before any other message is sent to the device. */
  readonly greet: (device: Device, resumed: boolean) => void;
}

export interface OfferReport {
  readonly registered: readonly string[];
  readonly rejected: readonly RejectedTool[];
}

/** The devices that are connected or may still resume. They are keyed by session, never by name. */
export class Devices {
  readonly #parts: DevicesParts;
  readonly #bySession: Map<string, Device> = new Map();
  readonly #byToken: Map<string, Device> = new Map();
  /** With other nodes: what ends the presence of each device at this node, and removes its stored session. */
  readonly #detach: Map<Device, () => void> = new Map();
  readonly #forgetSession: Map<Device, () => void> = new Map();
  readonly #sessions: DeviceSessions;
  readonly #elsewhere: DeviceCallsElsewhere;
  readonly #rows: DeviceRows;
  readonly #listing: DeviceListing;

  constructor(parts: DevicesParts) {
    this.#parts = parts;
    this.#sessions = new DeviceSessions({ ...parts, wheel: parts.lifecycle.wheel });
    this.#elsewhere = new DeviceCallsElsewhere(parts);
    this.#rows = new DeviceRows(parts);
    this.#listing = new DeviceListing({
      ...parts,
      directory: parts.store.devices,
      isPresent: ({ session }) => this.#bySession.has(session),
    });
    parts.peers.onSessionTaken((session) => this.#taken(session));
  }

  get size(): number {
    return this.#bySession.size;
  }

  /** In order of connection. */
  of(tenant: string): Device[] {
    return [...this.#bySession.values()].filter((device) => device.tenant === tenant);
  }

  /** How many devices of the tenant are connected, to any node. */
  async countOnline(tenant: string): Promise<number> {
    const own = this.of(tenant).filter(({ link }) => link !== null).length;
    return own + ((await this.#parts.store.devices?.countElsewhere(tenant)) ?? 0);
  }

  /** The devices of all nodes, newest first: one more than `limit` if there are more. */
  async list(query: DeviceQuery): Promise<readonly CountedDevice[]> {
    return await onAllNodes(this.of(query.tenant), query, this.#parts.store.devices);
  }

  connect(given: ConnectRequest): Device {
    const { clock, ids } = this.#parts;
    const session = ids.next('ds_');
    const { tenant, clientId, link } = given;
    const known = given.resume === null ? undefined : this.#byToken.get(given.resume);
    const isSame =
      known !== undefined &&
      known.tenant === tenant &&
      known.clientId === clientId &&
      // Otherwise another node has taken the session meanwhile.
      (this.#parts.peers.isSingle || given.earlier?.session === known.session);
    const continued = isSame ? known : (given.earlier ?? null);
    const device: Device = {
      session,
      firstSession: continued?.firstSession ?? session,
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
    given.greet(device, continued !== null);
    if (isSame) this.#takeOver(known, device, given.holding);
    if (this.#parts.peers.isSingle) this.#claim(device, given.holding ?? []);
    else this.#attach(device, isSame ? { ...given, earlier: null } : given);
    this.#rows.record(device, 'online');
    this.#listing.listLater(device);
    return device;
  }

  /**
   * With other nodes, before `connect`: takes the session that the device resumes, at whichever node it is. Of several nodes
   * that do so at once, one gets it. Null if there is none.
   */
  takeSession(tenant: string, clientId: string, resume: string | null): MaybePromise<EarlierSession | null> {
    if (resume === null || this.#parts.peers.isSingle) return null;
    const own = this.#byToken.get(resume);
    if (own === undefined) return this.#sessions.take(tenant, clientId, resume);
    if (own.tenant !== tenant || own.clientId !== clientId) return null;
    return this.#sessions.takeOwn(resume).then((isTaken) => (isTaken ? own : null));
  }

  /** The device that took the session did not connect after all: it may take the session again, at any node. */
  putBackSession(
    tenant: string,
    clientId: string,
    resume: string | null,
    earlier: EarlierSession | null,
  ): void {
    if (resume === null || earlier === null) return;
    const { session, firstSession } = earlier;
    const stored = { session, firstSession, tenant, clientId };
    this.#parts.tasks.start('device session', () => this.#sessions.putBack(resume, stored));
  }

  /** With other nodes: makes the device known to them, and takes its calls from those that hold them. */
  #attach(device: Device, { earlier = null, holding }: ConnectRequest): void {
    const { peers, tasks } = this.#parts;
    const detach = peers.clientAttached(device.tenant, device.clientId);
    const forget = this.#sessions.keep(device);
    this.#detach.set(device, detach);
    this.#forgetSession.set(device, forget);
    tasks.start('device calls', async () => {
      if (earlier !== null) {
        await this.#elsewhere.takeSession(device, holding);
        peers.sessionTaken(earlier.session);
      }
      await this.#elsewhere.claim(device, holding ?? []);
    });
  }

  /** Another node continues the session, and takes its calls: closes the connection. */
  #taken(session: string): void {
    const device = this.#bySession.get(session);
    if (device === undefined) return;
    const { link } = device;
    const { lifecycle, limits, provider } = this.#parts;
    this.#disconnected(device);
    this.#takeBackAll(device);
    this.#forget(device);
    // A call that was sent after the other node took those of the session did not reach the device.
    lifecycle.wheel.after(limits.deviceGraceMs, () => {
      for (const live of device.calls) provider.lost(live);
    });
    link?.replaced();
  }

  /** Registers or rejects each tool independently. */
  async offer(device: Device, specs: readonly ToolSpec[]): Promise<OfferReport> {
    const report = await this.#parts.clientTools.lend(device, specs);
    await this.#listing.list(device);
    return { registered: report.registered.map(({ name }) => name), rejected: report.rejected };
  }

  /** Sends calls of these tools that waited for a device to offer them. */
  sendWaiting({ tenant, clientId, link }: Device, names: readonly string[]): void {
    if (link === null) return;
    for (const name of names) this.#parts.provider.wake(tenant, clientId, name);
    this.#parts.callsElsewhere.attached(tenant, clientId);
  }

  /** Removes tools of the device; `names` null: all. Running calls continue. Returns the removed names. */
  async takeBack(device: Device, names: readonly string[] | null): Promise<readonly string[]> {
    const mine = [...device.tools].filter((name) => names === null || names.includes(name));
    await this.#parts.clientTools.takeBack(device, mine);
    await this.#listing.list(device);
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
    const { limits, lifecycle } = this.#parts;
    this.#disconnected(device);
    this.#takeBackAll(device);
    if (why === 'closing') {
      // Its session stays stored: the device continues it at another node, or here after the restart.
      this.#forgetSession.delete(device);
      this.#forget(device);
      return;
    }
    if (why === 'left' || device.resumeToken === null || device.calls.size === 0) {
      this.#giveUp(device);
      return;
    }
    this.#rows.record(device, 'away');
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
      this.#disconnected(earlier);
      this.#takeBackAll(earlier);
    }
    for (const live of earlier.calls) provider.reassign(live, device, holding);
    this.#forget(earlier);
    link?.replaced();
  }

  /** Assigns the calls that the device works on to it, and cancels those that have ended. */
  #claim(device: Device, holding: readonly string[]): void {
    for (const id of holding) {
      const live = this.#held(device, id);
      if (live === null) device.link?.cancel(id, 'ended');
      // Also if another connection has it: the last device to claim it wins.
      else if (this.#parts.provider.deviceOf(live) !== device)
        this.#parts.provider.reassign(live, device, null);
    }
  }

  #held(device: Device, id: string): LiveCall | null {
    const request = parseRequestId(id);
    const live = request === null ? undefined : this.#parts.lifecycle.find(request.callId);
    return live !== undefined && request !== null && worksOn(device, live.call, request) ? live : null;
  }

  #giveUp(device: Device): void {
    if (!this.#forget(device)) return;
    for (const live of device.calls) this.#parts.provider.lost(live);
    this.#rows.record(device, 'gone');
  }

  #takeBackAll(device: Device): void {
    const { clientTools, tasks } = this.#parts;
    tasks.start('device tools', () => clientTools.takeBack(device, [...device.tools]));
  }

  #disconnected(device: Device): void {
    device.link = null;
    this.#listing.listLater(device);
    this.#detach.get(device)?.();
    this.#detach.delete(device);
  }

  #forget(device: Device): boolean {
    this.#listing.listLater(device);
    this.#forgetSession.get(device)?.();
    this.#forgetSession.delete(device);
    if (device.resumeToken !== null) this.#byToken.delete(device.resumeToken);
    return this.#bySession.delete(device.session);
  }
}
