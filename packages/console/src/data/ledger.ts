import type { LedgerFilter } from '@patchboard/client';
import type { LedgerRowView } from '@patchboard/wire';
import { useQuery } from '@tanstack/vue-query';
import type { ComputedRef } from 'vue';
import { client } from './connection.ts';
import { pageLimit, usePages, type PagedRows } from './pages.ts';
import { keyOf, type QueryResult } from './queries.ts';

/** The rows of one call, read again when `moment` changes. */
export function useLedgerOf(
  about: ComputedRef<{ toolCallId: string; moment: string }>,
): QueryResult<readonly LedgerRowView[]> {
  return useQuery({
    queryKey: keyOf('ledger', 'call', about),
    queryFn: async ({ signal }) => {
      const { toolCallId } = about.value;
      return (await client.value.ledger({ toolCallId, limit: 100, signal }).page()).items;
    },
  });
}

/** Rows that match a filter, oldest first. */
export function useLedger(filter: ComputedRef<LedgerFilter>): PagedRows<LedgerRowView> {
  return usePages<LedgerRowView>({
    queryKey: keyOf('ledger', 'rows', filter),
    read: async (cursor, signal) => {
      const page = await client.value
        .ledger({ ...filter.value, limit: pageLimit(cursor), signal })
        .page(cursor);
      return { rows: page.items, next: page.nextCursor };
    },
    isFollowed: false,
  });
}

/** Downloads every row of the tenant as JSON lines. Throws if the download is incomplete. */
export async function ledgerFile(): Promise<Blob> {
  const lines: string[] = [];
  for await (const line of client.value.ledgerExport()) lines.push(`${line}\n`);
  return new Blob(lines, { type: 'application/jsonl' });
}
