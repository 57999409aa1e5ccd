import { useInfiniteQuery, type InfiniteData } from '@tanstack/vue-query';
import { computed, toValue, type ComputedRef, type MaybeRefOrGetter, type Ref } from 'vue';
import type { QueryState } from './queries.ts';

interface PageOfRows<T> {
  readonly rows: readonly T[];
  readonly next: string | null;
}

/** Rows of the first page, about a screenful, and of the following ones, which are requested by scrolling. */
export const FIRST_PAGE = 50;
export const NEXT_PAGE = 200;

/** How many rows to request from this position; null: the beginning of the list. */
export function pageLimit(cursor: string | null): number {
  return cursor === null ? FIRST_PAGE : NEXT_PAGE;
}

/** A paged list of rows. */
export interface PagedRows<T> extends QueryState {
  readonly rows: ComputedRef<readonly T[]>;
  /** Whether the first page is loaded. */
  readonly isRead: ComputedRef<boolean>;
  readonly isLoadingMore: Readonly<Ref<boolean>>;
  readonly hasMore: Readonly<Ref<boolean>>;
  loadMore(): void;
}

export interface PagesAsked<T> {
  readonly queryKey: ComputedRef<readonly unknown[]>;
  readonly read: (cursor: string | null, signal: AbortSignal) => Promise<PageOfRows<T>>;
  /** Events update the rows, so that they are never refetched as a whole. */
  readonly isFollowed: boolean;
  /** False: nothing is requested. Default: true. */
  readonly isEnabled?: MaybeRefOrGetter<boolean>;
}

export function usePages<T>({ queryKey, read, isFollowed, isEnabled = true }: PagesAsked<T>): PagedRows<T> {
  const query = useInfiniteQuery<
    PageOfRows<T>,
    Error,
    InfiniteData<PageOfRows<T>>,
    readonly unknown[],
    string | null
  >({
    queryKey,
    initialPageParam: null,
    queryFn: ({ pageParam, signal }) => read(pageParam, signal),
    getNextPageParam: (last) => last.next,
    enabled: () => toValue(isEnabled),
    ...(isFollowed ? { staleTime: Infinity } : {}),
    refetchOnWindowFocus: false,
    // Rows are immutable: no deep comparison or deep reactivity, which would be slow for a hundred thousand rows.
    structuralSharing: false,
    shallow: true,
  });
  return {
    rows: computed(() => (query.data.value?.pages ?? []).flatMap(({ rows }) => rows)),
    isRead: computed(() => query.data.value !== undefined),
    error: computed(() => query.error.value),
    isPending: query.isPending,
    isLoadingError: query.isLoadingError,
    isLoadingMore: query.isFetchingNextPage,
    hasMore: query.hasNextPage,
    loadMore() {
      if (query.hasNextPage.value && !query.isFetchingNextPage.value) {
        query.fetchNextPage().catch(() => undefined);
      }
    },
    refetch: () => query.refetch(),
  };
}
