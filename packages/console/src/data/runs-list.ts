import type { ListRunsOptions } from '@patchboard/client';
import { computed, onMounted, ref, watch, type ComputedRef } from 'vue';
import { messageOf } from '../failure-texts.ts';
import { onCallMoves, usePacedRead } from './call-moves.ts';
import { client } from './connection.ts';
import type { FollowedRows } from './followed-rows.ts';
import { useLaterRuns } from './later-runs.ts';
import { usePages } from './pages.ts';
import { keyOf } from './queries.ts';
import { queryClient } from './query-client.ts';
import { runRow, type RunRow } from './run-row.ts';

const PAGE = 50;
/** Counts of runs change with each call: they are read at most once in this time. */
const READ_MS = 2000;
const MAX_LOOKUPS = 5;

export type RunsList = Omit<FollowedRows<RunRow>, 'isComplete'>;

/** The runs that match a filter, newest first: paged from the server, read again while their calls change. */
export function useRunsList(filter: ComputedRef<ListRunsOptions>): RunsList {
  const queryKey = keyOf('runs', filter);
  const pages = usePages<RunRow>({
    queryKey,
    read: async (cursor, signal) => {
      const page = await client.value.runs.list({ ...filter.value, limit: PAGE, signal }).page(cursor);
      return { rows: page.items.map(runRow), next: page.nextCursor };
    },
    isFollowed: true,
  });
  const staleBecause = ref('');
  const later = useLaterRuns(
    pages.rows,
    computed(() => filter.value.outcome),
  );

  function forget(): void {
    later.forget();
    staleBecause.value = '';
  }

  async function startOver(): Promise<void> {
    forget();
    await queryClient.resetQueries({ queryKey: queryKey.value });
  }

  let moved = new Set<string>();
  async function catchUp(): Promise<void> {
    if (!pages.isRead.value) return;
    const key = queryKey.value;
    const ids = moved;
    moved = new Set();
    const page = await client.value.runs.list({ ...filter.value, limit: PAGE }).page();
    const newest = page.items.map(runRow);
    const seen = new Set(newest.map(({ id }) => id));
    const older = [...ids].filter((id) => later.isKnown(id) && !seen.has(id)).slice(0, MAX_LOOKUPS);
    const changed = (await Promise.all(older.map((id) => client.value.runs.get(id)))).map(runRow);
    // The filter changed meanwhile: these rows belong to the former list.
    if (queryKey.value !== key) return;
    const hasRows = later.rows.value.length > 0;
    const hasGap = newest.length >= PAGE && hasRows && !newest.some(({ id }) => later.isKnown(id));
    if (hasGap) await startOver();
    else later.add([...newest, ...changed]);
    later.removeOthers(newest, page.nextCursor === null, changed);
    staleBecause.value = '';
  }

  const requestRead = usePacedRead(READ_MS, async () => {
    await catchUp().catch((error: unknown) => (staleBecause.value = messageOf(error)));
  });
  onCallMoves(READ_MS / 4, (moves) => {
    for (const { run_id: run } of moves) moved.add(run);
    requestRead();
  });
  // Events were missed since the page was left.
  onMounted(() => {
    if (pages.isRead.value) requestRead();
  });
  watch(queryKey, forget);

  const { rows, heldCount, hold, letGo } = later;
  // A list with too many new runs starts over, see `hasGap`.
  const hasMoreHeld = computed(() => false);
  return { ...pages, rows, heldCount, hasMoreHeld, hold, letGo, staleBecause, refetch: startOver };
}
