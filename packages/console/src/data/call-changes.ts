import { computed, shallowRef, type ComputedRef } from 'vue';
import type { CallRow } from './call-row.ts';

/** Merges live changes into a paged list of calls. */
export interface CallChanges {
  /** All rows with their changes, newest first. */
  readonly rows: ComputedRef<readonly CallRow[]>;
  /** New calls that arrived while the list was on hold. */
  readonly heldCount: ComputedRef<number>;
  readonly size: ComputedRef<number>;
  isKnown(id: string): boolean;
  /** New calls, newest first. */
  add(calls: readonly CallRow[]): void;
  /** Known calls that have changed. */
  replace(calls: readonly CallRow[]): void;
  forget(): void;
  /** While the list is on hold, no row moves. */
  readonly hold: (isHeld: boolean) => void;
  readonly letGo: () => void;
}

export function useCallChanges(paged: ComputedRef<readonly CallRow[]>): CallChanges {
  const fresh = shallowRef<readonly CallRow[]>([]);
  const held = shallowRef<readonly CallRow[]>([]);
  const replaced = shallowRef<ReadonlyMap<string, CallRow>>(new Map());
  let isHeld = false;

  const known = computed(() => new Set([...paged.value, ...fresh.value, ...held.value].map(({ id }) => id)));
  const rows = computed(() => {
    const all = [...fresh.value, ...paged.value];
    return replaced.value.size === 0 ? all : all.map((row) => replaced.value.get(row.id) ?? row);
  });

  function letGo(): void {
    fresh.value = [...held.value, ...fresh.value];
    held.value = [];
  }

  return {
    rows,
    heldCount: computed(() => held.value.length),
    size: computed(() => known.value.size),
    isKnown: (id) => known.value.has(id),
    add(calls) {
      const list = isHeld ? held : fresh;
      list.value = [...calls, ...list.value];
    },
    replace(calls) {
      if (calls.length > 0)
        replaced.value = new Map([...replaced.value, ...calls.map((row) => [row.id, row] as const)]);
    },
    forget() {
      fresh.value = [];
      held.value = [];
      replaced.value = new Map();
    },
    hold(shallHold) {
      isHeld = shallHold;
      if (!isHeld) letGo();
    },
    letGo,
  };
}
