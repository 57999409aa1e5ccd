import { useInfiniteQuery, type InfiniteData } from '@tanstack/vue-query';
import { computed, type ComputedRef, type Ref } from 'vue';
import type { Question } from './queries.ts';

export interface PageOfRows<T> {
  readonly rows: readonly T[];
  readonly next: string | null;
}

/** Rows that come page by page. */
export interface PagedRows<T> extends Question {
  readonly rows: ComputedRef<readonly T[]>;
  /** At least the first page was. */
  readonly isRead: ComputedRef<boolean>;
  readonly isLoadingMore: Readonly<Ref<boolean>>;
  readonly hasMore: Readonly<Ref<boolean>>;
  loadMore(): void;
}

export interface PagesAsked<T> {
  readonly queryKey: ComputedRef<readonly unknown[]>;
  readonly read: (cursor: string | null, signal: AbortSignal) => Promise<PageOfRows<T>>;
  /** Events keep the rows true, so that they are never read again as a whole. */
  readonly isFollowed: boolean;
}

export function usePages<T>({ queryKey, read, isFollowed }: PagesAsked<T>): PagedRows<T> {
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
    ...(isFollowed ? { staleTime: Infinity } : {}),
    refetchOnWindowFocus: false,
    // Rows are never changed in place: to compare or to watch each of a hundred thousand of them is work for nothing.
    structuralSharing: false,
    shallow: true,
  });
  return {
    rows: computed(() => (query.data.value?.pages ?? []).flatMap(({ rows }) => rows)),
    isRead: computed(() => query.data.value !== undefined),
    error: computed(() => query.error.value),
    isPending: query.isPending,
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
