import { useQuery } from '@tanstack/vue-query';
import type { ClusterStatsView, NodesView } from '@patchboard/wire';
import { computed, type ComputedRef } from 'vue';
import { client } from './connection.ts';
import { keyOf, useStats, type QueryResult } from './queries.ts';

/** Heartbeats, room and takeovers change without an event. */
const REFRESH_MS = 1000;

export function useNodes(): QueryResult<NodesView> {
  return useQuery({
    queryKey: keyOf('nodes'),
    queryFn: ({ signal }) => client.value.nodes({ signal }),
    refetchInterval: REFRESH_MS,
  });
}

/** The figures of all nodes; null if only one can use the store, and until it is known. */
export function useCluster(): ComputedRef<ClusterStatsView | null> {
  const { data } = useStats();
  return computed(() => clusterIn(data.value));
}

/** Whether calls may be of different nodes. A node that is gone has ended calls too. */
export function useHasNodes(): ComputedRef<boolean> {
  const cluster = useCluster();
  return computed(() => {
    const { running = 0, leaving = 0, free = 0 } = cluster.value?.nodes ?? {};
    return running + leaving + free > 1;
  });
}

/** `stats`: what `GET /v1/stats` returned. */
export function clusterIn(stats: Readonly<Record<string, unknown>> | undefined): ClusterStatsView | null {
  return (stats?.['cluster'] as ClusterStatsView | undefined) ?? null;
}
