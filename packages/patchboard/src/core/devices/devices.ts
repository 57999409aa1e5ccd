import type { RejectedTool, ToolSpec } from '@patchboard/wire';
import { isOpen, type Call } from '../call/call.ts';
import type { Device, DeviceLink } from './device.ts';
import type { DeviceProvider } from './device-provider.ts';
import { plainRow, type LedgerDraft } from '../ledger/ledger.ts';
import type { Lifecycle } from '../call/lifecycle.ts';
import type { Limits } from '../limits.ts';
import type { LiveCall } from '../call/live-call.ts';
import type { Clock, Ids, Store } from '../ports.ts';
import { attemptToken, parseRequestId, requestId } from './request-id.ts';
import type { Tasks } from '../tasks.ts';
import type { ToolDirectory } from './tool-directory.ts';

export interface DevicesParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly limits: Limits;
  readonly tasks: Tasks;
  readonly lifecycle: Lifecycle;
  readonly directory: ToolDirectory;
  readonly provider: DeviceProvider;
}

/** Who connects, and how to reach them. */
export interface Introduction {
  readonly tenant: string;
  readonly clientId: string;
  /** Null: it has none but its session. */
  readonly name: string | null;
  readonly link: DeviceLink;
  /** It is given a token to come back with. */
  readonly mayResume: boolean;
  readonly resume: string | null;
  /** Requests it has received and not seen acknowledged; null: it does not say. */
  readonly holding: readonly string[] | null;
  /** Before anything is sent. */
  readonly greet: (device: Device, resumed: boolean) => void;
}

/** `left`: said goodbye. `lost`: may come back. `closing`: this server goes, and its next process takes the calls up. */
export type Parting = 'left' | 'lost' | 'closing';

export interface OfferReport {
  readonly registered: readonly string[];
  readonly rejected: readonly RejectedTool[];
}

/** The devices that are connected, or may come back in time. Everything is keyed by the connection, never by a name. */
export class Devices {
  readonly #parts: DevicesParts;
  readonly #bySession: Map<string, Device> = new Map();
  readonly #byToken: Map<string, Device> = new Map();
  /** Who came and went, not yet recorded. */
  readonly #news: LedgerDraft[] = [];

  constructor(parts: DevicesParts) {
    this.#parts = parts;
  }

  get size(): number {
    return this.#bySession.size;
  }

  /** By time of connection. */
  of(tenant: string): Device[] {
    return [...this.#bySession.values()].filter((device) => device.tenant === tenant);
  }

  connect(given: Introduction): Device {
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
    this.#tell(device, 'online');
    return device;
  }

  /** Each tool is taken or rejected by itself. */
  async offer(device: Device, specs: readonly ToolSpec[]): Promise<OfferReport> {
    const report = await this.#parts.directory.lend(device, specs);
    return { registered: report.registered.map(({ name }) => name), rejected: report.rejected };
  }

  /** What was asked for before anybody offered it. */
  sendWaiting({ tenant, clientId, link }: Device, names: readonly string[]): void {
    if (link === null) return;
    for (const name of names) this.#parts.provider.wake(tenant, clientId, name);
  }

  /** `names` null: all. Calls under way go on. */
  async takeBack(device: Device, names: readonly string[] | null): Promise<readonly string[]> {
    const mine = [...device.tools].filter((name) => names === null || names.includes(name));
    await this.#parts.directory.takeBack(device, mine);
    return mine;
  }

  /** Its tools leave at once. Its calls end, or wait for it to come back. Harmless if it is gone already. */
  disconnect(device: Device, parting: Parting): void {
    if (device.link === null) return;
    const { directory, limits, lifecycle, tasks } = this.#parts;
    device.link = null;
    tasks.start('device tools', async () => await directory.takeBack(device, [...device.tools]));
    if (parting === 'closing') {
      this.#forget(device);
      return;
    }
    if (parting === 'left' || device.resumeToken === null || device.calls.size === 0) {
      this.#giveUp(device);
      return;
    }
    this.#tell(device, 'away');
    lifecycle.wheel.after(limits.deviceGraceMs, () => this.#giveUp(device));
  }

  /** The server goes. A peer may answer the goodbye when there is no store any more, so it is not waited for. */
  leaveAll(): void {
    for (const device of this.#bySession.values()) this.disconnect(device, 'closing');
  }

  /** The calls of a connection that was cut go on with the next one of the same device. */
  #takeOver(earlier: Device, device: Device, holding: readonly string[] | null): void {
    const { provider } = this.#parts;
    const link = earlier.link;
    if (link !== null) {
      earlier.link = null;
      this.#parts.tasks.start('device tools', async () => {
        await this.#parts.directory.takeBack(earlier, [...earlier.tools]);
      });
    }
    for (const live of earlier.calls) {
      provider.bind(live, device);
      // It says what it has: this was lost on the way, so it certainly did not start.
      if (holding !== null && !holding.includes(requestId(live.call))) device.link?.request(live.call);
    }
    this.#forget(earlier);
    link?.replaced();
  }

  /** What it works on becomes its own again; what has ended it need not work on any more. */
  #claim(device: Device, holding: readonly string[]): void {
    for (const id of holding) {
      const live = this.#held(device, id);
      if (live === null) device.link?.cancel(id, 'ended');
      // Also if another connection has it: whoever holds it says so last.
      else if (this.#parts.provider.deviceOf(live) !== device) this.#parts.provider.bind(live, device);
    }
  }

  #held({ tenant, clientId }: Device, id: string): LiveCall | null {
    const parsed = parseRequestId(id);
    const live = parsed === null ? undefined : this.#parts.lifecycle.find(parsed.callId);
    if (live === undefined || parsed === null) return null;
    const { call } = live;
    const isOwn = call.tenant === tenant && call.clientId === clientId;
    return isOwn && isRunning(call) && attemptToken(call) === parsed.attemptToken ? live : null;
  }

  #giveUp(device: Device): void {
    if (!this.#forget(device)) return;
    for (const live of device.calls) this.#parts.provider.lost(live);
    this.#tell(device, 'gone');
  }

  #forget(device: Device): boolean {
    if (device.resumeToken !== null) this.#byToken.delete(device.resumeToken);
    return this.#bySession.delete(device.session);
  }

  #tell({ tenant, clientId, name, session }: Device, state: 'online' | 'away' | 'gone'): void {
    const row = plainRow('device.changed', tenant, this.#parts.clock.now(), {
      client_id: clientId,
      name,
      session,
      state,
    });
    this.#news.push(row);
    if (this.#news.length === 1) this.#parts.tasks.start('device rows', async () => await this.#spread());
  }

  async #spread(): Promise<void> {
    const { store, clock } = this.#parts;
    await new Promise<void>((resolve) => clock.after(NEWS_MS, resolve));
    await store.append(this.#news.splice(0));
  }
}

/** Nobody waits for these rows: those of a crowd that comes or goes share a commit instead of a sync to disk for each. */
const NEWS_MS = 20;

function isRunning(call: Call): boolean {
  return isOpen(call) && call.state.name === 'EXECUTING';
}
