import { isCallStateEvent } from '@patchboard/client';
import { isTerminal, type CallOrderName, type CallSortName, type CallStateEvent } from '@patchboard/wire';
import { computed, onMounted, onScopeDispose, ref, watch, type ComputedRef, type Ref } from 'vue';
import { messageOf } from '../failure-texts.ts';
import { rowOf, type CallRow } from './call-row.ts';
import { client } from './connection.ts';
import { useFollowedRows, type FollowedRows } from './followed-rows.ts';
import { onEvent, onResume } from './live.ts';
import { keyOf } from './queries.ts';

const MAX_LOOKUPS = 20;
const SETTLE_MS = 250;
/** How soon the newest calls are requested again while the index of the server is behind. */
const BEHIND_MS = 2000;

export interface CallsAsked {
  /** Empty: every call. */
  readonly query: string;
  readonly sort: CallSortName;
  readonly order: CallOrderName;
}

export interface CallsList extends FollowedRows<CallRow> {
  /** Whether new calls are added at the top. In any other order they have no place that can be seen. */
  readonly isNewestFirst: ComputedRef<boolean>;
  /** Calls have begun or ended that the list does not have. Only if it is not `isNewestFirst`. */
  readonly isOutdated: Readonly<Ref<boolean>>;
}

/** The calls that match a query: paged from the server, updated by events. */
export function useCallsList(asked: ComputedRef<CallsAsked>, isEnabled: ComputedRef<boolean>): CallsList {
  const isNewestFirst = computed(() => asked.value.sort === 'created' && asked.value.order === 'desc');
  const isOutdated = ref(false);
  const queryKey = keyOf('calls', asked);
  const { list, changes, readNewest } = useFollowedRows<CallRow>({
    queryKey,
    isEnabled,
    read: async (cursor, limit, signal) => {
      const { query, sort, order } = asked.value;
      // Defaults are left out: without a query the server reads the list from its store.
      const sorted = isNewestFirst.value ? {} : { sort, order };
      const filter = { ...(query === '' ? {} : { query }), ...sorted };
      const page = await client.value.calls({ ...filter, limit, ...(signal && { signal }) }).page(cursor);
      return { rows: page.items.map(rowOf), next: page.nextCursor, isComplete: page.complete !== false };
    },
  });

  async function catchUp(moves: readonly CallStateEvent[]): Promise<void> {
    if (!isEnabled.value) return;
    let seen: ReadonlySet<string> = new Set();
    if (isNewestFirst.value) seen = await readNewest(moves.length === 0 ? null : moves.length);
    else
      isOutdated.value ||= moves.length === 0 || moves.some(({ tool_call_id: id }) => !changes.isKnown(id));
    await readOlder(moves.filter(({ tool_call_id: id }) => changes.isKnown(id) && !seen.has(id)));
    if (moves.length === 0) await readOpen(seen);
    list.staleBecause.value = '';
  }

  /** Reads open calls again that may have ended while there were no events. */
  async function readOpen(seen: ReadonlySet<string>): Promise<void> {
    const open = changes.rows.value.filter(({ id, state }) => !isTerminal(state) && !seen.has(id));
    await readAgain(open.slice(0, MAX_LOOKUPS).map(({ id }) => id));
  }

  async function readAgain(ids: readonly string[]): Promise<void> {
    const key = queryKey.value;
    const calls = await Promise.all(ids.map((id) => client.value.get(id)));
    if (queryKey.value === key) changes.replace(calls.map(rowOf));
  }

  /**
   * Rows beyond the first page: an ended call is read again for its duration and code; for other events only
   * the state changes.
   */
  async function readOlder(moves: readonly CallStateEvent[]): Promise<void> {
    const byId = new Map(changes.rows.value.map((row) => [row.id, row]));
    changes.replace(
      moves.flatMap(({ tool_call_id: id, state }) => {
        const row = byId.get(id);
        return row === undefined ? [] : [{ ...row, state }];
      }),
    );
    const ended = moves.filter(({ state }) => isTerminal(state)).slice(0, MAX_LOOKUPS);
    await readAgain(ended.map(({ tool_call_id: id }) => id));
  }

  const passAfter = onCallMoves(async (moves) => {
    try {
      await catchUp(moves);
    } catch (error) {
      list.staleBecause.value = messageOf(error);
    }
    if (!list.isComplete.value) passAfter(BEHIND_MS);
  });
  watch(list.isComplete, (isComplete) => {
    if (!isComplete) passAfter(BEHIND_MS);
  });
  watch(queryKey, () => (isOutdated.value = false));
  // Events were missed since the page was left. In any other order nothing is added.
  onMounted(() => {
    if (list.isRead.value && isNewestFirst.value) passAfter(0);
  });

  async function refetch(): Promise<void> {
    isOutdated.value = false;
    await list.refetch();
  }

  return { ...list, refetch, isNewestFirst, isOutdated };
}

/**
 * Reports changed calls in batches, one at a time; an empty batch means that any call may have changed. Returns a function
 * that asks for a batch without an event.
 */
function onCallMoves(
  listener: (moves: readonly CallStateEvent[]) => Promise<void>,
): (afterMs: number) => void {
  const waiting = new Map<string, CallStateEvent>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let dueAt = Infinity;
  let isTelling = false;
  let isDisposed = false;

  function passAfter(afterMs: number): void {
    const at = Date.now() + afterMs;
    if (isDisposed || at >= dueAt) return;
    dueAt = at;
    clearTimeout(timer);
    if (!isTelling) timer = setTimeout(() => void pass().catch(() => undefined), afterMs);
  }

  async function pass(): Promise<void> {
    isTelling = true;
    dueAt = Infinity;
    const moves = [...waiting.values()];
    waiting.clear();
    await listener(moves);
    isTelling = false;
    if (dueAt === Infinity) return;
    const leftMs = Math.max(dueAt - Date.now(), 0);
    dueAt = Infinity;
    passAfter(leftMs);
  }

  const stopListening = onEvent((event) => {
    if (!isCallStateEvent(event)) return;
    waiting.set(event.data.tool_call_id, event.data);
    passAfter(SETTLE_MS);
  });
  const stopResuming = onResume(() => passAfter(SETTLE_MS));
  onScopeDispose(() => {
    isDisposed = true;
    stopListening();
    stopResuming();
    clearTimeout(timer);
  });
  return passAfter;
}
