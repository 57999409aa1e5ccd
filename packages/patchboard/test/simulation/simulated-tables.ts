import type { TokenStore } from '../../src/core/access/token-store.ts';
import type { DeviceDirectory } from '../../src/core/device-directory.ts';
import type { StoreConnection } from './simulated-store.ts';

/** The tokens of all nodes as one process reaches them: each method is a request to the database, which no fence refuses. */
export function simulatedTokens(
  connection: Pick<StoreConnection, 'transact'>,
  tokens: TokenStore,
): TokenStore {
  return {
    put: (kind, secret, value, lifetimeMs) =>
      connection.transact('table', () => tokens.put(kind, secret, value, lifetimeMs)),
    find: (kind, secret) => connection.transact('read', () => tokens.find(kind, secret)),
    spend: (kind, secret) => connection.transact('table', () => tokens.spend(kind, secret)),
  };
}

/** The devices of all nodes, likewise. */
export function simulatedDevices(
  connection: Pick<StoreConnection, 'transact'>,
  devices: DeviceDirectory,
): DeviceDirectory {
  return {
    save: (present, gone) => connection.transact('table', () => devices.save(present, gone)),
    offersElsewhere: (tenant, toolName, target) =>
      connection.transact('read', () => devices.offersElsewhere(tenant, toolName, target)),
    listElsewhere: (query) => connection.transact('read', () => devices.listElsewhere(query)),
    countElsewhere: (tenant) => connection.transact('read', () => devices.countElsewhere(tenant)),
  };
}
