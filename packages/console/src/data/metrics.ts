import type { CallView, ClusterStatsView } from '@patchboard/wire';
import { keepPreviousData, useQuery } from '@tanstack/vue-query';
import { onScopeDispose, shallowRef, type ComputedRef, type ShallowRef } from 'vue';
import { client } from './connection.ts';
import { clusterIn } from './nodes.ts';
import { keyOf, type QueryResult } from './queries.ts';

/** Upper bound of calls to load; the page reports when there were more. */
export const MAX_CALLS = 5000;
const PAGE = 200;
const REFRESH_MS = 10_000;

export interface CallsWindow {
  readonly calls: readonly CallView[];
  readonly from: number;
  readonly to: number;
  /** Whether there were more; `from` is then the time of the oldest counted call. */
  readonly isCut: boolean;
}

/** The calls of the last `seconds` seconds. */
export function useCallsWindow(seconds: ComputedRef<number>): QueryResult<CallsWindow> {
  return useQuery({
    queryKey: keyOf('metrics', seconds),
    queryFn: async ({ signal }) => {
      const to = Date.now();
      const from = to - seconds.value * 1000;
      const pages = client.value.calls({ since: new Date(from), limit: PAGE, signal });
      const calls: CallView[] = [];
      let isCut = false;
      for await (const call of pages) {
        if (calls.length === MAX_CALLS) {
          isCut = true;
          break;
        }
        calls.push(call);
      }
      const oldest = calls.at(-1);
      return { calls, to, isCut, from: isCut && oldest !== undefined ? oldest.created_at * 1000 : from };
    },
    refetchInterval: REFRESH_MS,
    placeholderData: keepPreviousData,
  });
}

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
  const take = (): void => void sample().catch(() => undefined);
  take();
  const timer = setInterval(take, SAMPLE_MS);
  onScopeDispose(() => clearInterval(timer));
  return samples;
}
