import type { CallView } from '@patchboard/wire';
import { keepPreviousData, useQuery } from '@tanstack/vue-query';
import { onScopeDispose, shallowRef, type ComputedRef, type ShallowRef } from 'vue';
import { client } from './connection.ts';
import { keyOf, type Answer } from './queries.ts';

/** Enough for a picture; the page says when there were more. */
export const MAX_CALLS = 5000;
const PAGE = 200;
const REFRESH_MS = 10_000;

export interface CallsWindow {
  readonly calls: readonly CallView[];
  readonly from: number;
  readonly to: number;
  /** There were more than are counted here; `from` is where the counted ones begin. */
  readonly isCut: boolean;
}

/** The calls of the last so many seconds. */
export function useCallsWindow(seconds: ComputedRef<number>): Answer<CallsWindow> {
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

/** What is under way at one moment. */
export interface Load {
  readonly at: number;
  readonly open: number;
  readonly waiting: number;
  readonly executing: number;
  readonly approvals: number;
  readonly online: number;
  readonly away: number;
  readonly inFlight: number;
}

const SAMPLE_MS = 2000;
const KEPT = 300;

/** The server keeps no history of its load: this one begins when the page is opened. */
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
    };
    samples.value = [...samples.value, now].slice(-KEPT);
  }
  // A sample that fails is a gap in the picture, and the page says elsewhere that the server is away.
  const take = (): void => void sample().catch(() => undefined);
  take();
  const timer = setInterval(take, SAMPLE_MS);
  onScopeDispose(() => clearInterval(timer));
  return samples;
}
