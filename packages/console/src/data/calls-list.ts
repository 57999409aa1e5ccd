import { isCallStateEvent, type CallsFilter } from '@patchboard/client';
import { isTerminal, type CallStateEvent } from '@patchboard/wire';
import { useInfiniteQuery, type InfiniteData } from '@tanstack/vue-query';
import { computed, onScopeDispose, ref, shallowRef, watch, type ComputedRef, type Ref } from 'vue';
import { mergeNewest, rowOf, type CallRow } from './call-row.ts';
import { client, holdsProof, tenant } from './connection.ts';
import { onEvent, onResume } from './live.ts';
import { messageOf } from '../said.ts';
import { queryClient } from './query-client.ts';

const PAGE = 200;
const SETTLE_MS = 250;
const MAX_LOOKUPS = 20;

interface RowsPage {
  readonly rows: readonly CallRow[];
  readonly next: string | null;
}

export interface CallsList {
  readonly rows: ComputedRef<readonly CallRow[]>;
  /** Calls that came while the list was held. */
  readonly heldCount: ComputedRef<number>;
  readonly isPending: Ref<boolean>;
  readonly isLoadingMore: Ref<boolean>;
  readonly hasMore: Ref<boolean>;
  readonly error: ComputedRef<Error | null>;
  /** Why the newest calls could not be read; the list shows older ones. */
  readonly staleBecause: Ref<string>;
  loadMore(): void;
  /** While held no row moves: somebody is reading or pointing. */
  hold(isHeld: boolean): void;
  letGo(): void;
  retry(): void;
}

/** The calls that fit a filter, newest first: paged from the server, kept true by events. */
export function useCallsList(filter: ComputedRef<CallsFilter>): CallsList {
  const queryKey = computed(() => [tenant.value, holdsProof.value, 'calls', filter.value]);
  const query = useInfiniteQuery<RowsPage, Error, InfiniteData<RowsPage>, readonly unknown[], string | null>({
    queryKey,
    initialPageParam: null,
    queryFn: async ({ pageParam, signal }) => {
      const page = await client.value.calls({ ...filter.value, limit: PAGE, signal }).page(pageParam);
      return { rows: page.items.map(rowOf), next: page.nextCursor };
    },
    getNextPageParam: (last) => last.next,
    staleTime: Infinity,
    refetchOnWindowFocus: false,
    // Rows are never changed in place: to compare or to watch each of a hundred thousand of them is work for nothing.
    structuralSharing: false,
    shallow: true,
  });

  const fresh = shallowRef<readonly CallRow[]>([]);
  const held = shallowRef<readonly CallRow[]>([]);
  const patches = shallowRef<ReadonlyMap<string, CallRow>>(new Map());
  let isHeld = false;
  const staleBecause = ref('');

  const paged = computed(() => (query.data.value?.pages ?? []).flatMap(({ rows }) => rows));
  const known = computed(() => new Set([...paged.value, ...fresh.value, ...held.value].map(({ id }) => id)));
  const rows = computed(() => {
    const all = [...fresh.value, ...paged.value];
    if (patches.value.size === 0) return all;
    return all.map((row) => patches.value.get(row.id) ?? row);
  });

  function forget(): void {
    fresh.value = [];
    held.value = [];
    patches.value = new Map();
  }

  function startOver(): void {
    forget();
    queryClient.resetQueries({ queryKey: queryKey.value }).catch(() => undefined);
  }

  function letGo(): void {
    fresh.value = [...held.value, ...fresh.value];
    held.value = [];
  }

  function patch(changed: readonly CallRow[]): void {
    if (changed.length === 0) return;
    const next = new Map(patches.value);
    for (const row of changed) next.set(row.id, row);
    patches.value = next;
  }

  async function readNewest(events: ReadonlyMap<string, CallStateEvent>): Promise<void> {
    if (query.data.value === undefined) return;
    const page = await client.value.calls({ ...filter.value, limit: PAGE }).page();
    const merged = mergeNewest((id) => known.value.has(id), page.items.map(rowOf));
    if (merged.hasGap && known.value.size > 0 && merged.fresh.length >= PAGE) {
      startOver();
      return;
    }
    patch(merged.changed);
    if (isHeld) held.value = [...merged.fresh, ...held.value];
    else fresh.value = [...merged.fresh, ...fresh.value];
    const seen = new Set(page.items.map((call) => call.tool_call_id));
    const older = [...events.values()].filter(({ tool_call_id: id }) => known.value.has(id) && !seen.has(id));
    await readOlder(older);
    staleBecause.value = '';
  }

  /** Calls further down: an ending brings a duration and a code, everything else only another state. */
  async function readOlder(events: readonly CallStateEvent[]): Promise<void> {
    const byId = new Map(rows.value.map((row) => [row.id, row]));
    patch(
      events.flatMap(({ tool_call_id: id, state }) => {
        const row = byId.get(id);
        return row === undefined ? [] : [{ ...row, state }];
      }),
    );
    const ended = events.filter(({ state }) => isTerminal(state)).slice(0, MAX_LOOKUPS);
    const calls = await Promise.all(ended.map(({ tool_call_id: id }) => client.value.get(id)));
    patch(calls.map(rowOf));
  }

  const waiting = new Map<string, CallStateEvent>();
  let timer: ReturnType<typeof setTimeout> | undefined;

  function settle(): void {
    timer ??= setTimeout(() => {
      timer = undefined;
      const events = new Map(waiting);
      waiting.clear();
      readNewest(events).catch((error: unknown) => (staleBecause.value = messageOf(error)));
    }, SETTLE_MS);
  }

  const stopListening = onEvent((event) => {
    if (!isCallStateEvent(event)) return;
    waiting.set(event.data.tool_call_id, event.data);
    settle();
  });
  const stopResuming = onResume(settle);
  onScopeDispose(() => {
    stopListening();
    stopResuming();
    clearTimeout(timer);
  });
  watch(queryKey, forget);

  return {
    rows,
    heldCount: computed(() => held.value.length),
    isPending: query.isPending,
    isLoadingMore: query.isFetchingNextPage,
    hasMore: query.hasNextPage,
    error: computed(() => query.error.value),
    staleBecause,
    loadMore() {
      if (query.hasNextPage.value && !query.isFetchingNextPage.value) {
        query.fetchNextPage().catch(() => undefined);
      }
    },
    hold(shallHold) {
      isHeld = shallHold;
      if (!isHeld) letGo();
    },
    letGo,
    retry: startOver,
  };
}
