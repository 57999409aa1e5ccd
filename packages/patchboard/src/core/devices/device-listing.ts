import type { Lifecycle } from '../call/lifecycle.ts';
import { nothing } from '../call/live-call.ts';
import type { CountedDevice, DeviceDirectory, DeviceQuery, ListedDevice } from '../device-directory.ts';
import { PendingWrites } from '../pending-writes.ts';
import type { Clock } from '../ports.ts';
import { Repeated } from '../repeated.ts';
import type { Tasks } from '../tasks.ts';
import type { Device } from './device.ts';

export interface DeviceListingParts {
  /** Undefined: there are no other nodes. */
  readonly directory: DeviceDirectory | undefined;
  readonly tasks: Tasks;
  readonly clock: Clock;
  readonly lifecycle: Pick<Lifecycle, 'wheel' | 'isClosed'>;
  /** False: the device is neither connected nor may it resume. */
  readonly isPresent: (device: Device) => boolean;
}

/** How often a write that failed is repeated. */
const REPEAT_MS = 1000;

/** Makes the devices of this node known to the other nodes. */
export class DeviceListing {
  readonly #parts: DeviceListingParts;
  /** The devices whose record in the store is not as they are, by session. */
  readonly #pending: PendingWrites<Device>;
  /** Runs from a write that failed until one succeeds. */
  readonly #repeated: Repeated;

  constructor(parts: DeviceListingParts) {
    this.#parts = parts;
    const { clock, lifecycle } = parts;
    this.#pending = new PendingWrites({ write: (devices) => this.#save(devices) });
    // The wheel ends with this process: then nothing is repeated.
    const timers = {
      after: (ms: number, action: () => void) => lifecycle.wheel.after(ms, action),
      elapsed: () => clock.elapsed(),
    };
    this.#repeated = new Repeated(timers, REPEAT_MS, () => this.#repeat());
  }

  /** As `list`, in the background. */
  listLater(device: Device): void {
    if (this.#parts.directory !== undefined) this.#parts.tasks.start('device list', () => this.list(device));
  }

  /** Records the device as it is. Changes of one turn share a write. Rejects if that fails; it is repeated then. */
  async list(device: Device): Promise<void> {
    const { directory, lifecycle } = this.#parts;
    if (directory === undefined) return;
    this.#pending.add(device.session, device);
    try {
      await this.#pending.flush();
    } catch (error) {
      if (!lifecycle.isClosed) this.#repeated.start();
      throw error;
    }
  }

  async #repeat(): Promise<void> {
    // The callers of `list` got the error of the first attempt.
    await this.#pending.flush().catch(nothing);
    // Not awaited, because it waits for this run.
    if (this.#pending.size === 0) this.#repeated.stop().catch(nothing);
  }

  async #save(devices: readonly Device[]): Promise<void> {
    const { directory, isPresent } = this.#parts;
    const gone = devices.filter((device) => !isPresent(device));
    await directory?.save(
      devices.filter((device) => isPresent(device)).map(listed),
      gone.map(({ session }) => session),
    );
  }
}

function listed({ link, tools, ...device }: Device): ListedDevice {
  const { session, firstSession, tenant, clientId, name, connectedAt } = device;
  return {
    session,
    firstSession,
    tenant,
    clientId,
    name,
    connectedAt,
    isOnline: link !== null,
    tools: [...tools],
  };
}

/**
 * These devices of this node and those of the other nodes, as the query selects them, newest first: one more than its `limit`
 * if there are more.
 */
export async function onAllNodes(
  own: readonly Device[],
  query: DeviceQuery,
  directory: DeviceDirectory | undefined,
): Promise<readonly CountedDevice[]> {
  const { clientId, before, limit } = query;
  const found = own.filter(
    (device) =>
      (clientId === undefined || device.clientId === clientId) &&
      (before === null || device.session < before),
  );
  const others = (await directory?.listElsewhere({ ...query, limit: limit + 1 })) ?? [];
  const all = [...found.map((device) => ({ ...listed(device), openCalls: device.calls.size })), ...others];
  // Session ids sort by start time.
  return all.toSorted((a, b) => (a.session < b.session ? 1 : -1)).slice(0, limit + 1);
}
