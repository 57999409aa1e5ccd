import { ClusterPeers } from '../cluster/cluster-peers.ts';
import type { Log, Store } from '../core/ports.ts';
import { nodeDigest } from '../runtime/digest.ts';
import { nodeClock } from '../runtime/node-clock.ts';
import type { Settings } from '../settings/settings.ts';
import type { SharedStore } from '../store/postgres/shared-store.ts';
import { VERSION } from '../version.ts';

/**
 * Begins the heartbeat of this node, if several nodes share the store: from now on the others see it. Returns null for the
 * store of one node.
 */
export async function openCluster(store: Store, settings: Settings, log: Log): Promise<ClusterPeers | null> {
  const { shared = null } = store as { readonly shared?: SharedStore | null };
  if (shared === null || settings.bus === null) return null;
  // Loaded on demand: most servers are alone.
  const { openBus } = await import('./open-bus.ts');
  const { table, storeId } = shared;
  const bus = await openBus(settings.bus, { clusterId: storeId, writer: table.self.writer, log });
  const cluster = new ClusterPeers({
    table,
    bus,
    ledger: shared,
    clock: nodeClock,
    log,
    store,
    version: VERSION,
    fingerprint: fingerprintOf(settings),
  });
  try {
    await cluster.start();
    return cluster;
  } catch (error) {
    await cluster.close();
    throw error;
  }
}

/** Equal on nodes that treat calls the same. Contains no secret. */
function fingerprintOf(settings: Settings): string {
  const { limits, policy, rates, redact, hookModules, packModules, keepCallsMs } = settings;
  const { tenants, toolTimeoutsMs, toolCacheMs } = settings;
  const maps = [tenants, toolTimeoutsMs, toolCacheMs].map((map) => [...map].toSorted());
  const parts = [VERSION, limits, policy, rates, redact, hookModules, packModules, keepCallsMs, maps];
  return nodeDigest.sha256(JSON.stringify(parts)).slice(0, 16);
}
