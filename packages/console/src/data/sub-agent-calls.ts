import { queryTerm, type RunView } from '@patchboard/wire';
import { computed, shallowRef, watch, type ComputedRef } from 'vue';
import { segmentsOf } from './call-segments.ts';
import { client } from './connection.ts';
import { tracedCall, type TracedCall } from './traced-call.ts';
import type { TracedCallChanges } from './traced-calls.ts';

const MAX_RUNS = 50;
const MAX_CALLS = 200;

/**
 * A sub-agent has a run of its own, of the same agent, that begins while the call it works for is executed. Returns a function
 * that reads the calls of the sub-agents of a call which is shown, if such a run began during it.
 */
export function useSubAgentCalls(
  run: ComputedRef<RunView | undefined>,
  changes: TracedCallChanges,
): (call: TracedCall) => void {
  /** When other runs of the agent began, epoch milliseconds; null: not read yet. */
  const beginnings = shallowRef<readonly number[] | null>(null);
  const shown = new Map<string, TracedCall>();
  const asked = new Set<string>();

  async function readBeginnings({
    run_id: id,
    agent_id: agentId,
    created_at: since,
  }: RunView): Promise<void> {
    const ended = run.value?.calls?.open === 0 ? run.value.calls.last_ended_at : null;
    const until = ended === null ? {} : { until: new Date(Date.parse(ended) + 1) };
    const page = await client.value.runs.list({ agentId, since, ...until, limit: MAX_RUNS }).page();
    if (run.value?.run_id !== id) return;
    beginnings.value = page.items.flatMap((other) =>
      other.run_id === id ? [] : [Date.parse(other.created_at)],
    );
    for (const call of shown.values()) look(call);
  }

  function look(call: TracedCall): void {
    shown.set(call.id, call);
    if (beginnings.value === null || asked.has(call.id) || !spans(call, beginnings.value)) return;
    asked.add(call.id);
    read(call.id).catch(() => asked.delete(call.id));
  }

  async function read(parent: string): Promise<void> {
    const id = run.value?.run_id;
    const given = { query: queryTerm('parent', [parent]), order: 'asc', limit: MAX_CALLS } as const;
    const { items } = await client.value.calls(given).page();
    // The page shows another run by now.
    if (run.value?.run_id !== id) return;
    changes.add(items.map(tracedCall));
  }

  watch(
    computed(() => run.value?.run_id),
    () => {
      beginnings.value = null;
      shown.clear();
      asked.clear();
      if (run.value !== undefined) readBeginnings(run.value).catch(() => undefined);
    },
    { immediate: true },
  );
  return look;
}

/** Whether one of the moments is in a time in which the call was executed. */
function spans(call: TracedCall, moments: readonly number[]): boolean {
  if (moments.length === 0) return false;
  return segmentsOf(call, Infinity).some(
    ({ state, from, to }) => state === 'EXECUTING' && moments.some((at) => at >= from && at <= to),
  );
}
