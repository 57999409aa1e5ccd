import type { CallStateEvent } from '@patchboard/wire';
import { computed, shallowRef, type ComputedRef } from 'vue';
import { afterEvent, callOfEvent, type TracedCall } from './traced-call.ts';

/** Merges events, and calls that were read apart, into a paged list of calls. */
export interface TracedCallChanges {
  /** Each call once, in any order. */
  readonly calls: ComputedRef<readonly TracedCall[]>;
  readonly byId: ComputedRef<ReadonlyMap<string, TracedCall>>;
  /** Returns the events of unknown calls that `isOwn` does not claim. */
  apply(moves: readonly CallStateEvent[]): readonly CallStateEvent[];
  /** Calls that were read apart. */
  add(calls: readonly TracedCall[]): void;
  forget(): void;
}

export interface TracedCallsGiven {
  readonly paged: ComputedRef<readonly TracedCall[]>;
  /** False while pages are missing: new calls come after them, and are left out until then. */
  readonly isWhole: ComputedRef<boolean>;
  /** Whether a call that is known from the event only belongs to the list. */
  readonly isOwn: (event: CallStateEvent) => boolean;
}

export function useTracedCalls({ paged, isWhole, isOwn }: TracedCallsGiven): TracedCallChanges {
  /** Calls read apart, and calls that events changed or announced. */
  const changed = shallowRef<ReadonlyMap<string, TracedCall>>(new Map());
  const pagedById = computed(() => new Map(paged.value.map((call) => [call.id, call])));

  const byId = computed(() => {
    const all = new Map(pagedById.value);
    for (const [id, call] of changed.value) {
      const read = all.get(id);
      if (read !== undefined) all.set(id, later(read, call));
      // A child is below its parent, wherever the pages end.
      else if (isWhole.value || (call.parent !== null && all.has(call.parent))) all.set(id, call);
    }
    return all;
  });

  function apply(moves: readonly CallStateEvent[]): readonly CallStateEvent[] {
    const next = new Map(changed.value);
    const unknown: CallStateEvent[] = [];
    for (const move of moves) {
      const id = move.tool_call_id;
      const read = pagedById.value.get(id);
      const noted = next.get(id);
      const call = read === undefined ? noted : noted === undefined ? read : later(read, noted);
      const parent = move.parent_call_id;
      const isChild = parent !== undefined && (pagedById.value.has(parent) || next.has(parent));
      if (call !== undefined) next.set(id, afterEvent(call, move));
      else if (isChild || isOwn(move)) next.set(id, callOfEvent(move));
      else unknown.push(move);
    }
    if (unknown.length < moves.length) changed.value = next;
    return unknown;
  }

  return {
    calls: computed(() => [...byId.value.values()]),
    byId,
    apply,
    add(calls) {
      const next = new Map(changed.value);
      for (const call of calls) {
        const noted = next.get(call.id);
        next.set(call.id, noted === undefined ? call : later(call, noted));
      }
      if (calls.length > 0) changed.value = next;
    },
    forget() {
      changed.value = new Map();
    },
  };
}

/** Of a record that was read, and one that events changed, the one that knows more steps. */
function later(read: TracedCall, noted: TracedCall): TracedCall {
  return noted.steps.length > read.steps.length ? noted : read;
}
