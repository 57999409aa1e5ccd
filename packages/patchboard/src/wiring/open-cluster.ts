import { ClusterPeers } from '../cluster/cluster-peers.ts';
import type { Log, Store } from '../core/ports.ts';
import { nodeClock } from '../runtime/node-clock.ts';
import type { BusSettings } from '../settings/bus-settings.ts';
import type { SharedStore } from '../store/postgres/shared-store.ts';
import { VERSION } from '../version.ts';

/**
 * Begins the heartbeat of this node, if several nodes share the store: from now on the others see it. `fencedBefore`: how
 * often other nodes have fenced this process. Returns null for the store of one node.
 */
export async function openCluster(
  store: Store,
  settings: BusSettings | null,
  log: Log,
  fencedBefore = 0,
): Promise<ClusterPeers | null> {
  const { shared = null } = store as { readonly shared?: SharedStore | null };
  if (shared === null || settings === null) return null;
  // Loaded on demand: most servers are alone.
  const { openBus } = await import('./open-bus.ts');
  const { table, storeId } = shared;
  const bus = await openBus(settings, { clusterId: storeId, writer: table.self.writer, log });
  const cluster = new ClusterPeers({
    table,
    bus,
    ledger: shared,
    clock: nodeClock,
    log,
    store,
    version: VERSION,
    fencedBefore,
  });
  try {
    await cluster.start();
    return cluster;
  } catch (error) {
    await cluster.close();
    throw error;
  }
}
