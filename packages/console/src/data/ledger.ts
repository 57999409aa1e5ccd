import type { LedgerFilter } from '@patchboard/client';
import type { LedgerRowView } from '@patchboard/wire';
import { useInfiniteQuery, useQuery } from '@tanstack/vue-query';
import { computed, type ComputedRef, type Ref } from 'vue';
import { client } from './connection.ts';
import { keyOf, type Answer } from './queries.ts';

const PAGE = 200;

/** The rows of one call. `moment`: read again when it changes. */
export function useLedgerOf(
  about: ComputedRef<{ toolCallId: string; moment: string }>,
): Answer<readonly LedgerRowView[]> {
  return useQuery({
    queryKey: keyOf('ledger', 'call', about),
    queryFn: async ({ signal }) => {
      const { toolCallId } = about.value;
      return (await client.value.ledger({ toolCallId, limit: 100, signal }).page()).items;
    },
  });
}

export interface LedgerRows {
  readonly rows: ComputedRef<readonly LedgerRowView[]>;
  readonly isPending: Ref<boolean>;
  readonly error: ComputedRef<Error | null>;
  readonly hasMore: Ref<boolean>;
  loadMore(): void;
  retry(): void;
}

/** Rows that fit a filter, oldest first, page by page. */
export function useLedger(filter: ComputedRef<LedgerFilter>): LedgerRows {
  const query = useInfiniteQuery({
    queryKey: keyOf('ledger', 'rows', filter),
    initialPageParam: null as string | null,
    queryFn: ({ pageParam, signal }) =>
      client.value.ledger({ ...filter.value, limit: PAGE, signal }).page(pageParam),
    getNextPageParam: (last) => last.nextCursor,
    refetchOnWindowFocus: false,
  });
  return {
    rows: computed(() => (query.data.value?.pages ?? []).flatMap(({ items }) => items)),
    isPending: query.isPending,
    error: computed(() => query.error.value),
    hasMore: query.hasNextPage,
    loadMore() {
      if (query.hasNextPage.value && !query.isFetchingNextPage.value) {
        query.fetchNextPage().catch(() => undefined);
      }
    },
    retry() {
      query.refetch().catch(() => undefined);
    },
  };
}

/** Every row of the tenant, as a file of JSON lines. Throws if it breaks off: half a ledger is none. */
export async function ledgerFile(): Promise<Blob> {
  const lines: string[] = [];
  for await (const line of client.value.ledgerExport()) lines.push(`${line}\n`);
  return new Blob(lines, { type: 'application/jsonl' });
}
