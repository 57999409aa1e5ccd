import type { ClusterStatsView } from '@patchboard/wire';
import { onScopeDispose, shallowRef, type ShallowRef } from 'vue';
import { client } from './connection.ts';
import { clusterIn } from './nodes.ts';

/** The load of the node that responds at one moment. */
export interface Load {
  readonly at: number;
  readonly open: number;
  readonly waiting: number;
  readonly executing: number;
  readonly approvals: number;
  readonly online: number;
  readonly away: number;
  readonly inFlight: number;
  /** The same of all nodes; null if only one can use the store. */
  readonly cluster: ClusterStatsView | null;
}

const SAMPLE_MS = 2000;
const KEPT = 300;

/** The server keeps no load history: sampling starts when the page is opened. */
export function useLoadSamples(): ShallowRef<readonly Load[]> {
  const samples = shallowRef<readonly Load[]>([]);
  async function sample(): Promise<void> {
    const stats = await client.value.stats();
    const devices = (stats['devices'] ?? {}) as Readonly<Record<string, unknown>>;
    const now = {
      at: Date.now(),
      open: Number(stats['open'] ?? 0),
      waiting: Number(stats['waiting'] ?? 0),
      executing: Number(stats['executing'] ?? 0),
      approvals: Number(stats['approvals'] ?? 0),
      online: Number(devices['online'] ?? 0),
      away: Number(devices['away'] ?? 0),
      inFlight: Number(devices['open_calls'] ?? 0),
      cluster: clusterIn(stats),
    };
    samples.value = [...samples.value, now].slice(-KEPT);
  }
  // A failed sample is a gap in the chart; the page shows the lost connection elsewhere.
  const take = (): void => {
    if (!document.hidden) sample().catch(() => undefined);
  };
  take();
  const timer = setInterval(take, SAMPLE_MS);
  onScopeDispose(() => clearInterval(timer));
  return samples;
}
