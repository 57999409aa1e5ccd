import { isCallStateEvent, type CallsFilter } from '@patchboard/client';
import { isTerminal, type CallStateEvent } from '@patchboard/wire';
import { onScopeDispose, ref, watch, type ComputedRef, type Ref } from 'vue';
import { messageOf } from '../failure-texts.ts';
import { useCallChanges, type CallChanges } from './call-changes.ts';
import { mergeNewest, rowOf, type CallRow } from './call-row.ts';
import { client } from './connection.ts';
import { onEvent, onResume } from './live.ts';
import { usePages, type PagedRows } from './pages.ts';
import { keyOf } from './queries.ts';
import { queryClient } from './query-client.ts';

const PAGE = 200;
const MAX_LOOKUPS = 20;
const SETTLE_MS = 250;

export interface CallsList extends PagedRows<CallRow>, Pick<CallChanges, 'heldCount' | 'hold' | 'letGo'> {
  /** Why the newest calls could not be loaded; the list may be stale. */
  readonly staleBecause: Ref<string>;
}

/** The calls that match a filter, newest first: paged from the server, updated by events. */
export function useCallsList(filter: ComputedRef<CallsFilter>): CallsList {
  const queryKey = keyOf('calls', filter);
  const pages = usePages<CallRow>({
    queryKey,
    read: async (cursor, signal) => {
      const page = await client.value.calls({ ...filter.value, limit: PAGE, signal }).page(cursor);
      return { rows: page.items.map(rowOf), next: page.nextCursor };
    },
    isFollowed: true,
  });
  const changes = useCallChanges(pages.rows);
  const staleBecause = ref('');

  async function startOver(): Promise<void> {
    changes.forget();
    await queryClient.resetQueries({ queryKey: queryKey.value });
  }

  async function catchUp(moves: readonly CallStateEvent[]): Promise<void> {
    if (!pages.isRead.value) return;
    const key = queryKey.value;
    const newest = await client.value.calls({ ...filter.value, limit: PAGE }).page();
    // The filter changed meanwhile: these rows belong to the former list.
    if (queryKey.value !== key) return;
    const merged = mergeNewest((id) => changes.isKnown(id), newest.items.map(rowOf));
    if (merged.hasGap && changes.size.value > 0 && merged.fresh.length >= PAGE) {
      await startOver();
      return;
    }
    changes.replace(merged.changed);
    changes.add(merged.fresh);
    const seen = new Set(newest.items.map((call) => call.tool_call_id));
    await readOlder(moves.filter(({ tool_call_id: id }) => changes.isKnown(id) && !seen.has(id)));
    staleBecause.value = '';
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
    const key = queryKey.value;
    const ended = moves.filter(({ state }) => isTerminal(state)).slice(0, MAX_LOOKUPS);
    const calls = await Promise.all(ended.map(({ tool_call_id: id }) => client.value.get(id)));
    if (queryKey.value === key) changes.replace(calls.map(rowOf));
  }

  onCallMoves((moves) => {
    catchUp(moves).catch((error: unknown) => (staleBecause.value = messageOf(error)));
  });
  watch(queryKey, () => changes.forget());

  const { rows, heldCount, hold, letGo } = changes;
  return { ...pages, rows, heldCount, hold, letGo, staleBecause, refetch: startOver };
}

/**
 * Reports changed calls in batches; an empty batch means that the stream has reconnected and any call may
 * have changed.
 */
function onCallMoves(tell: (moves: readonly CallStateEvent[]) => void): void {
  const waiting = new Map<string, CallStateEvent>();
  let timer: ReturnType<typeof setTimeout> | undefined;

  function settle(): void {
    timer ??= setTimeout(() => {
      timer = undefined;
      const moves = [...waiting.values()];
      waiting.clear();
      tell(moves);
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
}
