import type { RefusedCallView } from '@patchboard/wire';
import { onScopeDispose, type ComputedRef } from 'vue';
import { messageOf } from '../failure-texts.ts';
import { client } from './connection.ts';
import { useFollowedRows, type FollowedRows } from './followed-rows.ts';
import { onResume } from './live.ts';
import { keyOf } from './queries.ts';

/** There are no events of refused requests. */
const POLL_MS = 5000;

export interface RefusedRow extends RefusedCallView {
  readonly id: string;
}

/** The refused requests that match a query, newest first. */
export function useRefusedList(
  query: ComputedRef<string>,
  isEnabled: ComputedRef<boolean>,
): FollowedRows<RefusedRow> {
  const { list, readNewest } = useFollowedRows<RefusedRow>({
    queryKey: keyOf('calls', 'refused', query),
    isEnabled,
    read: async (cursor, limit, signal) => {
      const filter = { query: query.value, limit, ...(signal && { signal }) };
      const page = await client.value.refusedCalls(filter).page(cursor);
      const rows = page.items.map((row) => ({ ...row, id: String(row.seq) }));
      return { rows, next: page.nextCursor, isComplete: page.complete !== false };
    },
  });

  function poll(): void {
    if (!isEnabled.value || document.hidden) return;
    readNewest(0).catch((error: unknown) => (list.staleBecause.value = messageOf(error)));
  }
  const timer = setInterval(poll, POLL_MS);
  const stopResuming = onResume(poll);
  onScopeDispose(() => {
    clearInterval(timer);
    stopResuming();
  });
  return list;
}
