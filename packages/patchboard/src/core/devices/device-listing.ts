import type { Lifecycle } from '../call/lifecycle.ts';
import { nothing } from '../call/live-call.ts';
import type { DeviceDirectory, ListedDevice } from '../device-directory.ts';
import type { Tasks } from '../tasks.ts';
import type { Device } from './device.ts';

export interface DeviceListingParts {
  /** Undefined: there are no other nodes. */
  readonly directory: DeviceDirectory | undefined;
  readonly tasks: Tasks;
  readonly lifecycle: Pick<Lifecycle, 'wheel' | 'isClosed'>;
  /** False: the device is neither connected nor may it resume. */
  readonly isPresent: (device: Device) => boolean;
}

/** The pause after a write that failed; it doubles with each further one. */
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 8000;

/** Makes the devices of this node known to the other nodes. */
export class DeviceListing {
  readonly #parts: DeviceListingParts;
  /** The devices whose record in the store is not as they are. */
  readonly #changed: Set<Device> = new Set();
  #writing: Promise<void> = Promise.resolve();
  /** A write that takes all changes up to its turn has not begun. */
  #isDue = false;
  #isPaused = false;
  #pauseMs = FIRST_PAUSE_MS;

  constructor(parts: DeviceListingParts) {
    this.#parts = parts;
  }

  /** As `list`, in the background. */
  listLater(device: Device): void {
    if (this.#parts.directory !== undefined) this.#parts.tasks.start('device list', () => this.list(device));
  }

  /** Records the device as it is. Changes of one turn share a write. Rejects if that fails; it is repeated then. */
  async list(device: Device): Promise<void> {
    const { directory } = this.#parts;
    if (directory === undefined) return;
    this.#changed.add(device);
    await this.#write(directory);
  }

  #write(directory: DeviceDirectory): Promise<void> {
    if (!this.#isDue) {
      this.#isDue = true;
      // The callers of the write before get its error.
      this.#writing = this.#writing.catch(nothing).then(() => this.#writeChanged(directory));
    }
    return this.#writing;
  }

  async #writeChanged(directory: DeviceDirectory): Promise<void> {
    const { isPresent } = this.#parts;
    this.#isDue = false;
    const changed = [...this.#changed];
    this.#changed.clear();
    const present = changed.filter((device) => isPresent(device));
    const gone = changed.filter((device) => !isPresent(device));
    try {
      await directory.save(
        present.map(listed),
        gone.map(({ session }) => session),
      );
      this.#pauseMs = FIRST_PAUSE_MS;
    } catch (error) {
      for (const device of changed) this.#changed.add(device);
      this.#repeatLater(directory);
      throw error;
    }
  }

  #repeatLater(directory: DeviceDirectory): void {
    const { lifecycle, tasks } = this.#parts;
    if (this.#isPaused || lifecycle.isClosed) return;
    this.#isPaused = true;
    lifecycle.wheel.after(this.#pauseMs, () => {
      this.#isPaused = false;
      if (this.#changed.size > 0) tasks.start('device list', () => this.#write(directory));
    });
    this.#pauseMs = Math.min(this.#pauseMs * 2, LONGEST_PAUSE_MS);
  }
}

export function listed({ link, tools, ...device }: Device): ListedDevice {
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
