import { BoundedMap } from '../bounded-map.ts';
import { pairKey } from '../pair-key.ts';
import type { ReservationRequest } from '../providers/provider.ts';
import { loadOf, type Device } from './device.ts';

/** The providers of one tool: its client over HTTP if the registration is stored, and the connected devices. */
export interface Pool {
  /** The spec as registered. A device that offers an identical spec joins the pool without a new registration. */
  readonly specJson: string;
  /** True: registered over HTTP, so the tool stays registered without a connection. */
  readonly isKept: boolean;
  readonly devices: Set<Device>;
  /** Devices that are connected to another node offer the tool. */
  readonly isElsewhere: boolean;
}

/** More runs than use devices at once. The oldest are evicted, and their next call may go to another device. */
const REMEMBERED_RUNS = 10_000;

/** The pools of all client tools. */
export class Pools {
  readonly #pools: Map<string, Pool> = new Map();
  /** The device each run used last. */
  readonly #lastUsed: BoundedMap<string, Device> = new BoundedMap(REMEMBERED_RUNS);

  of(tenant: string, toolName: string): Pool | undefined {
    return this.#pools.get(pairKey(tenant, toolName));
  }

  set(tenant: string, toolName: string, pool: Pool): void {
    this.#pools.set(pairKey(tenant, toolName), pool);
  }

  /** Removes the pool and the tool from all its devices. */
  remove(tenant: string, toolName: string): void {
    for (const device of this.of(tenant, toolName)?.devices ?? []) device.tools.delete(toolName);
    this.#pools.delete(pairKey(tenant, toolName));
  }

  /** `isLast`: no other device of this node offers the tool. `isRemoved`: so the pool was removed. */
  leave(device: Device, toolName: string): { readonly isLast: boolean; readonly isRemoved: boolean } {
    device.tools.delete(toolName);
    const pool = this.of(device.tenant, toolName);
    const isLast = pool?.devices.delete(device) === true && pool.devices.size === 0;
    const isRemoved = isLast && !pool.isKept && !pool.isElsewhere;
    if (isRemoved) this.#pools.delete(pairKey(device.tenant, toolName));
    return { isLast, isRemoved };
  }

  /** Whether a device that is connected to this node has that name and offers the tool. */
  offers(tenant: string, toolName: string, target: string): boolean {
    const pool = this.of(tenant, toolName);
    return pool !== undefined && named(pool, target) !== undefined;
  }

  isOnline(tenant: string, toolName: string): boolean {
    const pool = this.of(tenant, toolName);
    return pool !== undefined && (pool.devices.size > 0 || pool.isElsewhere);
  }

  /** Returns the requested device, else the one that this run used last, else the least busy. */
  choose(request: ReservationRequest): Device | undefined {
    const pool = this.of(request.tenant, request.toolName);
    if (pool === undefined || pool.devices.size === 0) return undefined;
    const device =
      request.target === null
        ? (this.#usedBefore(pool, request) ?? leastBusy(pool))
        : named(pool, request.target);
    if (device !== undefined) this.#lastUsed.set(pairKey(request.tenant, request.runId), device);
    return device;
  }

  #usedBefore(pool: Pool, { tenant, runId }: ReservationRequest): Device | undefined {
    const last = this.#lastUsed.get(pairKey(tenant, runId));
    if (last === undefined || pool.devices.has(last)) return last;
    // The same device may have reconnected.
    for (const device of pool.devices)
      if (device.name === last.name && device.clientId === last.clientId) return device;
    return undefined;
  }
}

/** The device with this session or name; with the id of the client, the least busy one. */
function named(pool: Pool, target: string): Device | undefined {
  let found: Device | undefined;
  for (const device of pool.devices) {
    if (device.session === target || device.name === target) found = device;
    if (device.clientId === target) return leastBusy(pool);
  }
  return found;
}

/** Moves the chosen device to the end: idle devices take turns, and the search stops at the first idle one. */
function leastBusy(pool: Pool): Device | undefined {
  let found: Device | undefined;
  for (const device of pool.devices) {
    if (found === undefined || loadOf(device) < loadOf(found)) found = device;
    if (loadOf(found) === 0) break;
  }
  if (found === undefined) return undefined;
  pool.devices.delete(found);
  pool.devices.add(found);
  return found;
}
