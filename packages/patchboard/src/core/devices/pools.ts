import { BoundedMap } from '../bounded-map.ts';
import { pairKey } from '../pair-key.ts';
import type { ReservationRequest } from '../providers/provider.ts';
import { loadOf, type Device } from './device.ts';

/** Whoever can run one tool: its client over HTTP if the registration is kept, and devices while they are connected. */
export interface Pool {
  /** The contract as it was registered; a device that brings the very same joins without further ado. */
  readonly specJson: string;
  /** Registered over HTTP: the tool stays without a connection. */
  readonly isKept: boolean;
  readonly devices: Set<Device>;
}

/** More runs than use devices at once; the oldest are forgotten, and choose anew. */
const REMEMBERED_RUNS = 10_000;

/** The pools of all tools of clients. */
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

  /** Nobody offers the tool any more. */
  remove(tenant: string, toolName: string): void {
    for (const device of this.of(tenant, toolName)?.devices ?? []) device.tools.delete(toolName);
    this.#pools.delete(pairKey(tenant, toolName));
  }

  /** False: somebody else still offers it. */
  leave(device: Device, toolName: string): boolean {
    device.tools.delete(toolName);
    const pool = this.of(device.tenant, toolName);
    if (pool?.devices.delete(device) !== true || pool.isKept || pool.devices.size > 0) return false;
    this.#pools.delete(pairKey(device.tenant, toolName));
    return true;
  }

  offers(tenant: string, toolName: string, target: string): boolean {
    return this.#named({ tenant, toolName, runId: '', target }) !== undefined;
  }

  isOnline(tenant: string, toolName: string): boolean {
    return (this.of(tenant, toolName)?.devices.size ?? 0) > 0;
  }

  /** The one that was asked for, else the one this run used last, else the least busy. */
  choose(request: ReservationRequest): Device | undefined {
    const pool = this.of(request.tenant, request.toolName);
    if (pool === undefined || pool.devices.size === 0) return undefined;
    const device =
      request.target !== null ? this.#named(request) : (this.#usedBefore(pool, request) ?? leastBusy(pool));
    if (device !== undefined) this.#lastUsed.set(pairKey(request.tenant, request.runId), device);
    return device;
  }

  #named({ tenant, toolName, target }: ReservationRequest): Device | undefined {
    const pool = this.of(tenant, toolName);
    if (pool === undefined || target === null) return undefined;
    let named: Device | undefined;
    for (const device of pool.devices) {
      if (device.session === target || device.name === target) named = device;
      if (device.clientId === target) return leastBusy(pool);
    }
    return named;
  }

  #usedBefore(pool: Pool, { tenant, runId }: ReservationRequest): Device | undefined {
    const last = this.#lastUsed.get(pairKey(tenant, runId));
    if (last === undefined || pool.devices.has(last)) return last;
    // It may have come back over another connection.
    for (const device of pool.devices)
      if (device.name === last.name && device.clientId === last.clientId) return device;
    return undefined;
  }
}

/** Takes turns among those that have nothing to do, so that looking for one is short. */
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
