import type { DeviceDirectory, ListedDevice } from '../../src/core/device-directory.ts';
import { StorageUnavailable } from '../../src/core/failures.ts';

/** The devices of nodes that share a store in memory. */
export class DeviceRows {
  readonly #rows: Map<string, { readonly node: object; readonly device: ListedDevice }> = new Map();

  /** The node is gone, and its devices are not found any more. */
  gone(node: object): void {
    for (const [session, row] of this.#rows) if (row.node === node) this.#rows.delete(session);
  }

  /** The devices as a node sees them, which cannot write while `isFailing`. */
  of(self: object, isFailing: () => boolean = () => false): DeviceDirectory {
    const elsewhere = (): ListedDevice[] =>
      [...this.#rows.values()].flatMap(({ node, device }) => (node === self ? [] : [device]));
    return {
      save: async (present, gone) => {
        if (isFailing()) throw new StorageUnavailable('the devices cannot be written');
        for (const device of present) this.#rows.set(device.session, { node: self, device });
        for (const session of gone) this.#rows.delete(session);
      },
      offersElsewhere: async (tenant, toolName, target) =>
        elsewhere().some(
          (device) =>
            device.tenant === tenant &&
            device.tools.includes(toolName) &&
            [device.name, device.session, device.clientId].includes(target),
        ),
      listElsewhere: async ({ tenant, before, limit }) =>
        elsewhere()
          .filter((device) => device.tenant === tenant && (before === null || device.session < before))
          .toSorted((one, other) => (one.session < other.session ? 1 : -1))
          .slice(0, limit)
          .map((device) => ({ ...device, openCalls: 0 })),
      countElsewhere: async (tenant) =>
        elsewhere().filter((device) => device.tenant === tenant && device.isOnline).length,
    };
  }
}
