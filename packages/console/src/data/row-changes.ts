import { computed, ref, shallowRef, type ComputedRef, type Ref } from 'vue';

interface Row {
  readonly id: string;
}

/** Merges live changes into a paged list. */
export interface RowChanges<T extends Row> {
  /** All rows with their changes, newest first. */
  readonly rows: ComputedRef<readonly T[]>;
  /** New rows that arrived while the list was on hold. */
  readonly heldCount: ComputedRef<number>;
  readonly freshCount: ComputedRef<number>;
  readonly size: ComputedRef<number>;
  readonly isHeld: Readonly<Ref<boolean>>;
  isKnown(id: string): boolean;
  /** New rows, newest first. */
  add(rows: readonly T[]): void;
  /** Known rows that have changed. */
  replace(rows: readonly T[]): void;
  forget(): void;
  /** While the list is on hold, no row moves. */
  readonly hold: (isHeld: boolean) => void;
  readonly letGo: () => void;
}

export function useRowChanges<T extends Row>(paged: ComputedRef<readonly T[]>): RowChanges<T> {
  const fresh = shallowRef<readonly T[]>([]);
  const held = shallowRef<readonly T[]>([]);
  const replaced = shallowRef<ReadonlyMap<string, T>>(new Map());
  const isHeld = ref(false);

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
    freshCount: computed(() => fresh.value.length),
    size: computed(() => known.value.size),
    isHeld,
    isKnown: (id) => known.value.has(id),
    add(added) {
      const list = isHeld.value ? held : fresh;
      list.value = [...added, ...list.value];
    },
    replace(changed) {
      if (changed.length > 0)
        replaced.value = new Map([...replaced.value, ...changed.map((row) => [row.id, row] as const)]);
    },
    forget() {
      fresh.value = [];
      held.value = [];
      replaced.value = new Map();
    },
    hold(shallHold) {
      isHeld.value = shallHold;
      if (!shallHold) letGo();
    },
    letGo,
  };
}
