import { useQuery } from '@tanstack/vue-query';
import { computed, ref, type ComputedRef } from 'vue';
import { client } from './connection.ts';
import { keyOf, useTools } from './queries.ts';
import type { ServerValues } from './query-menu.ts';
import { may } from './session.ts';

/** Values of a query that only the server knows. Nothing is requested before `want` is called. */
export interface KnownValues {
  readonly values: ComputedRef<ServerValues>;
  readonly want: () => void;
}

/** Agents are those of the metrics of the last week, the busiest first. */
const AGENTS_SINCE = '7d';

export function useKnownValues(): KnownValues {
  const isWanted = ref(false);
  const { data: tools } = useTools(isWanted);
  const { data: agents } = useQuery({
    queryKey: keyOf('call-metrics', 'agents'),
    queryFn: async ({ signal }) => {
      const asked = { since: AGENTS_SINCE, by: 'agent', points: 1, signal } as const;
      return (await client.value.callMetrics(asked)).series.map(({ key }) => key);
    },
    enabled: () => isWanted.value && may('readCalls'),
  });
  return {
    values: computed(() => ({
      tool: (tools.value ?? []).map(({ name }) => name),
      agent: agents.value ?? [],
    })),
    want: () => (isWanted.value = true),
  };
}
