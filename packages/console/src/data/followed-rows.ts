import { computed, ref, watch, type ComputedRef, type Ref } from 'vue';
import { mergeNewest } from './call-row.ts';
import { FIRST_PAGE, NEXT_PAGE, pageLimit, usePages, type PagedRows } from './pages.ts';
import { queryClient } from './query-client.ts';
import { useRowChanges, type RowChanges } from './row-changes.ts';

/** The fewest rows of a request for the newest ones. */
const LIVE_PAGE = 20;
/** New rows that are counted while the list is on hold. */
const MAX_HELD = 500;
/** New rows that are kept before the list starts over with its first page. */
const MAX_FRESH = 2000;

interface RowsPage<T> {
  readonly rows: readonly T[];
  readonly next: string | null;
  /** False: the newest rows may be missing. */
  readonly isComplete: boolean;
}

/** A paged list that adds new rows at its top. */
export interface FollowedRows<T extends { readonly id: string }>
  extends PagedRows<T>, Pick<RowChanges<T>, 'heldCount' | 'hold'> {
  /** There are more new rows than `heldCount`. */
  readonly hasMoreHeld: Readonly<Ref<boolean>>;
  readonly letGo: () => void;
  /** False while the index of the server is behind its store: the newest rows may be missing. */
  readonly isComplete: Readonly<Ref<boolean>>;
  /** Why the newest rows could not be loaded; the list may be stale. */
  readonly staleBecause: Ref<string>;
}

export interface RowsAsked<T> {
  readonly queryKey: ComputedRef<readonly unknown[]>;
  readonly isEnabled: ComputedRef<boolean>;
  readonly read: (cursor: string | null, limit: number, signal?: AbortSignal) => Promise<RowsPage<T>>;
}

/** What the owner of the list uses to follow changes. */
export interface RowFollower<T extends { readonly id: string }> {
  readonly list: FollowedRows<T>;
  readonly changes: RowChanges<T>;
  /** Adds the newest rows; `expected`: how many may be new, null if unknown. Returns the ids that it read. */
  readonly readNewest: (expected: number | null) => Promise<ReadonlySet<string>>;
}

export function useFollowedRows<T extends { readonly id: string }>(asked: RowsAsked<T>): RowFollower<T> {
  const { queryKey, isEnabled, read } = asked;
  const isComplete = ref(true);
  const hasMoreHeld = ref(false);
  const staleBecause = ref('');
  const pages = usePages<T>({
    queryKey,
    read: async (cursor, signal) => {
      const page = await read(cursor, pageLimit(cursor), signal);
      if (cursor === null) isComplete.value = page.isComplete;
      return page;
    },
    isFollowed: true,
    isEnabled,
  });
  const changes = useRowChanges(pages.rows);

  function forget(): void {
    changes.forget();
    hasMoreHeld.value = false;
    staleBecause.value = '';
  }

  async function startOver(): Promise<void> {
    forget();
    await queryClient.resetQueries({ queryKey: queryKey.value });
  }

  function letGo(): void {
    if (hasMoreHeld.value) startOver().catch(() => undefined);
    else changes.letGo();
  }

  async function readNewest(expected: number | null): Promise<ReadonlySet<string>> {
    if (!pages.isRead.value || hasMoreHeld.value) return new Set();
    const key = queryKey.value;
    const limit = Math.min(Math.max(expected ?? FIRST_PAGE, LIVE_PAGE), NEXT_PAGE);
    const newest = await read(null, limit);
    // The filter changed meanwhile: these rows belong to the former list.
    if (queryKey.value !== key) return new Set();
    const merged = mergeNewest((id) => changes.isKnown(id), newest.rows);
    const hasGap = merged.hasGap && changes.size.value > 0 && newest.next !== null;
    const held = changes.heldCount.value + merged.fresh.length;
    if (changes.isHeld.value && (hasGap || held > MAX_HELD)) hasMoreHeld.value = true;
    else if (hasGap || changes.freshCount.value > MAX_FRESH) await startOver();
    else changes.add(merged.fresh);
    changes.replace(merged.changed);
    isComplete.value = newest.isComplete;
    staleBecause.value = '';
    return new Set(newest.rows.map(({ id }) => id));
  }

  watch(queryKey, forget);
  watch(changes.isHeld, (isHeld) => {
    if (!isHeld && hasMoreHeld.value) startOver().catch(() => undefined);
  });

  const { rows, heldCount, hold } = changes;
  const list = {
    ...pages,
    rows,
    heldCount,
    hasMoreHeld,
    hold,
    letGo,
    isComplete: computed(() => isComplete.value),
    staleBecause,
    refetch: startOver,
  };
  return { list, changes, readNewest };
}
