import type { CallView, RunView } from '@patchboard/wire';
import { computed, toValue, type ComputedRef, type MaybeRefOrGetter } from 'vue';
import { ranMsOf } from './call-execution.ts';
import { client } from './connection.ts';
import { usePages, type PagedRows } from './pages.ts';
import { keyOf } from './queries.ts';
import type { ComparedCall } from './run-alignment.ts';

const PAGE = 200;

/** A run with its first calls; `loadMore` loads further ones. */
export interface ComparedRun extends PagedRows<ComparedCall> {
  readonly run: ComputedRef<RunView | undefined>;
}

interface RowOfRun {
  readonly run: RunView;
  readonly call: ComparedCall | null;
}

export function useComparedRun(id: MaybeRefOrGetter<string>): ComparedRun {
  const pages = usePages<RowOfRun>({
    queryKey: keyOf('compared-run', id),
    read: async (cursor, signal) => {
      const given = { order: 'asc', limit: PAGE, cursor, signal } as const;
      const { run, calls } = await client.value.runs.page(toValue(id), given);
      const rows = calls.items.map((call) => ({ run, call: comparedCall(call) }));
      // A run without calls has a row too: the run is in it.
      return { rows: rows.length === 0 ? [{ run, call: null }] : rows, next: calls.nextCursor };
    },
    isFollowed: false,
  });
  return {
    ...pages,
    run: computed(() => pages.rows.value[0]?.run),
    rows: computed(() => pages.rows.value.flatMap(({ call }) => (call === null ? [] : [call]))),
  };
}

function comparedCall(call: CallView): ComparedCall {
  return {
    id: call.tool_call_id,
    tool: call.tool_name,
    args: call.args,
    state: call.state,
    code: call.error?.code ?? '',
    ranMs: ranMsOf(call),
  };
}
