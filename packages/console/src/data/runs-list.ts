import type { ListRunsOptions } from '@patchboard/client';
import { computed, onMounted, ref, shallowRef, watch, type ComputedRef } from 'vue';
import { messageOf } from '../failure-texts.ts';
import { onCallMoves, usePacedRead } from './call-moves.ts';
import { client } from './connection.ts';
import type { FollowedRows } from './followed-rows.ts';
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
  const isHeld = ref(false);
  /** Runs that were read after their page, or after all pages. */
  const later = shallowRef<ReadonlyMap<string, RunRow>>(new Map());
  const held = shallowRef<ReadonlySet<string>>(new Set());
  const pagedIds = computed(() => new Set(pages.rows.value.map(({ id }) => id)));
  const rows = computed(() => {
    const fresh = [...later.value.values()].filter(
      ({ id }) => !pagedIds.value.has(id) && !held.value.has(id),
    );
    fresh.sort((one, other) => other.startedAt - one.startedAt);
    return [...fresh, ...pages.rows.value.map((row) => later.value.get(row.id) ?? row)];
  });
  const isKnown = (id: string): boolean => pagedIds.value.has(id) || later.value.has(id);

  function add(read: readonly RunRow[]): void {
    if (isHeld.value)
      held.value = new Set([...held.value, ...read.flatMap(({ id }) => (isKnown(id) ? [] : [id]))]);
    later.value = new Map([...later.value, ...read.map((row) => [row.id, row] as const)]);
  }

  function forget(): void {
    later.value = new Map();
    held.value = new Set();
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
    const newest = (await client.value.runs.list({ ...filter.value, limit: PAGE }).page()).items.map(runRow);
    const seen = new Set(newest.map(({ id }) => id));
    const older = [...ids].filter((id) => isKnown(id) && !seen.has(id)).slice(0, MAX_LOOKUPS);
    const changed = await Promise.all(older.map((id) => client.value.runs.get(id)));
    // The filter changed meanwhile: these rows belong to the former list.
    if (queryKey.value !== key) return;
    const hasGap = newest.length >= PAGE && rows.value.length > 0 && !newest.some(({ id }) => isKnown(id));
    if (hasGap) await startOver();
    else add([...newest, ...changed.map(runRow)]);
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

  const letGo = (): void => void (held.value = new Set());
  function hold(shallHold: boolean): void {
    isHeld.value = shallHold;
    if (!shallHold) letGo();
  }
  const heldCount = computed(() => held.value.size);
  // A list with too many new runs starts over, see `hasGap`.
  const hasMoreHeld = computed(() => false);
  return { ...pages, rows, heldCount, hasMoreHeld, hold, letGo, staleBecause, refetch: startOver };
}
