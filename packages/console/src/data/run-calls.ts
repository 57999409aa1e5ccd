import { queryTerm, type RunView } from '@patchboard/wire';
import { useQuery } from '@tanstack/vue-query';
import {
  computed,
  onMounted,
  onScopeDispose,
  toValue,
  watch,
  type ComputedRef,
  type MaybeRefOrGetter,
} from 'vue';
import { onCallMoves, usePacedRead } from './call-moves.ts';
import { client } from './connection.ts';
import { onResume } from './live.ts';
import { usePages, type PagedRows } from './pages.ts';
import { keyOf } from './queries.ts';
import { queryClient } from './query-client.ts';
import { useSubAgentCalls } from './sub-agent-calls.ts';
import { tracedCall, type TracedCall } from './traced-call.ts';
import { useTracedCalls } from './traced-calls.ts';

const PAGE = 100;
const MOVES_MS = 400;
const READ_MS = 2000;

/** The calls of a waterfall. */
export interface WaterfallCalls extends PagedRows<TracedCall> {
  /** A row shows the call. */
  readonly onShown: (call: TracedCall) => void;
}

export interface RunCalls extends WaterfallCalls {
  readonly run: ComputedRef<RunView | undefined>;
}

/** A run and its calls, oldest first: paged from the server, changed by events. */
export function useRunCalls(id: MaybeRefOrGetter<string>): RunCalls {
  const headKey = keyOf('run', id);
  const head = useQuery({
    queryKey: headKey,
    queryFn: ({ signal }) => client.value.runs.get(toValue(id), { signal }),
    // The first page of the calls brings it.
    enabled: false,
  });
  /** Requests the run. The response is of this run also if the page shows another one by then. */
  async function readHead(): Promise<RunView> {
    const key = headKey.value;
    const run = await client.value.runs.get(toValue(id));
    queryClient.setQueryData(key, run);
    return run;
  }
  const queryKey = keyOf('run-calls', id);
  const pages = usePages<TracedCall>({
    queryKey,
    read: async (cursor, signal) => {
      const given = { order: 'asc', limit: PAGE, cursor, signal } as const;
      const key = headKey.value;
      const { run, calls } = await client.value.runs.page(toValue(id), given);
      queryClient.setQueryData(key, run);
      return { rows: calls.items.map(tracedCall), next: calls.nextCursor };
    },
    isFollowed: true,
  });
  const changes = useTracedCalls({
    paged: pages.rows,
    isWhole: computed(() => !pages.hasMore.value),
    isOwn: ({ run_id: run }) => run === toValue(id),
  });
  const run = computed(() => head.data.value);
  const onShown = useSubAgentCalls(run, changes);

  const requestHead = usePacedRead(READ_MS, async () => {
    if (pages.isRead.value) await readHead();
  });
  onCallMoves(MOVES_MS, (moves) => {
    changes.apply(moves);
    if (moves.some(({ run_id: moved }) => moved === toValue(id))) requestHead();
  });

  async function startOver(): Promise<void> {
    changes.forget();
    await queryClient.resetQueries({ queryKey: queryKey.value });
  }

  /** After missed events: a run whose counts are the same, and that has no open call, is as it was. */
  async function catchUp(): Promise<void> {
    if (!pages.isRead.value) return;
    const before = run.value?.calls;
    const now = await readHead();
    const isSame = before !== undefined && before.total === now.calls?.total && before.open === 0;
    if (!isSame || now.calls?.open !== 0) await pages.refetch();
  }

  onMounted(() => {
    catchUp().catch(() => undefined);
  });
  onScopeDispose(onResume(() => void catchUp().catch(() => undefined)));
  watch(queryKey, () => changes.forget());
  return { ...pages, rows: changes.calls, run, onShown, refetch: startOver };
}

/** The calls of a trace, oldest first. Events do not name traces: they change known calls, and make the newest ones be read. */
export function useTraceCalls(id: MaybeRefOrGetter<string>): WaterfallCalls {
  const queryKey = keyOf('trace-calls', id);
  const query = computed(() => queryTerm('trace', [toValue(id)]));
  const pages = usePages<TracedCall>({
    queryKey,
    read: async (cursor, signal) => {
      const given = { query: query.value, order: 'asc', limit: PAGE, signal } as const;
      const page = await client.value.calls(given).page(cursor);
      return { rows: page.items.map(tracedCall), next: page.nextCursor };
    },
    isFollowed: true,
  });
  const changes = useTracedCalls({
    paged: pages.rows,
    isWhole: computed(() => !pages.hasMore.value),
    isOwn: () => false,
  });
  const readNewest = usePacedRead(READ_MS, async () => {
    if (!pages.isRead.value) return;
    const key = queryKey.value;
    const newest = await client.value.calls({ query: query.value, limit: PAGE }).page();
    if (queryKey.value === key) changes.add(newest.items.map(tracedCall));
  });
  onCallMoves(MOVES_MS, (moves) => {
    const unknown = changes.apply(moves);
    if (unknown.length === 0) return;
    const runs = new Set(changes.calls.value.map(({ run }) => run));
    if (unknown.some(({ run_id: run }) => runs.has(run))) readNewest();
  });
  onMounted(() => {
    if (pages.isRead.value) readNewest();
  });
  watch(queryKey, () => changes.forget());
  return { ...pages, rows: changes.calls, onShown: () => undefined };
}
