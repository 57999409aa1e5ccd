import type { CallMetricsOptions } from '@patchboard/client';
import type { CallMetricsView, MetricGroupName } from '@patchboard/wire';
import { keepPreviousData, useQuery } from '@tanstack/vue-query';
import { computed, toValue, type MaybeRefOrGetter } from 'vue';
import { client } from './connection.ts';
import { keyOf, type QueryResult } from './queries.ts';
import { toolsTerm } from './query-shortcuts.ts';
import { may } from './session.ts';

export const REFRESH_MS = 15_000;
/** While the index of the server is behind. */
const BEHIND_MS = 2000;

export interface MetricsAsked {
  /** How long ago, or RFC 3339. */
  readonly since: string;
  /** RFC 3339; empty: now. */
  readonly until: string;
  readonly by: MetricGroupName;
  /** Terms of tools and agents. */
  readonly query: string;
}

export interface Metrics {
  /** One series of all calls; none if there are none. */
  readonly all: CallMetricsView;
  readonly groups: CallMetricsView;
  /** Epoch milliseconds. */
  readonly readAt: number;
}

/** Counts of ended calls, read again while the page is visible unless the time has an end. */
export function useCallMetrics(
  asked: MaybeRefOrGetter<MetricsAsked>,
  isEnabled: MaybeRefOrGetter<boolean>,
): QueryResult<Metrics> {
  return useQuery({
    queryKey: keyOf('call-metrics', asked),
    queryFn: async ({ signal }) => {
      const { since, until, by, query } = toValue(asked);
      const options: CallMetricsOptions = {
        since,
        ...(until === '' ? {} : { until }),
        ...(query === '' ? {} : { query }),
        signal,
      };
      const [all, groups] = await Promise.all([
        client.value.callMetrics(options),
        client.value.callMetrics({ ...options, by }),
      ]);
      return { all, groups, readAt: Date.now() };
    },
    enabled: () => toValue(isEnabled),
    refetchInterval: ({ state: { data } }) => {
      if (data?.all.complete === false) return BEHIND_MS;
      return toValue(asked).until === '' ? REFRESH_MS : false;
    },
    placeholderData: keepPreviousData,
  });
}

/** The counts of one tool's calls of the last seven days. */
export function useToolMetrics(query: MaybeRefOrGetter<string>): QueryResult<CallMetricsView> {
  return useQuery({
    queryKey: keyOf('call-metrics', 'tool', query),
    queryFn: ({ signal }) => client.value.callMetrics({ since: '7d', query: toValue(query), signal }),
    refetchInterval: ({ state: { data } }) => (data?.complete === false ? BEHIND_MS : false),
  });
}

/** The median run time of each of these tools in the last day, in milliseconds. Tools without calls are left out. */
export function useMedianRunTimes(
  tools: MaybeRefOrGetter<readonly string[]>,
): QueryResult<ReadonlyMap<string, number>> {
  const query = computed(() => toolsTerm(toValue(tools)));
  return useQuery({
    queryKey: keyOf('call-metrics', 'medians', query),
    queryFn: async ({ signal }) => {
      const options = { since: '24h', by: 'tool', points: 1, query: query.value, signal } as const;
      const { series } = await client.value.callMetrics(options);
      return new Map(series.flatMap(({ key, ran_ms: ran }) => (ran === null ? [] : [[key, ran.p50]])));
    },
    enabled: () => query.value !== '' && may('readCalls'),
    refetchInterval: REFRESH_MS,
    placeholderData: keepPreviousData,
  });
}
