import type { RunOutcomeName } from '@patchboard/wire';
import { computed, ref, shallowRef, type ComputedRef } from 'vue';
import type { RunRow } from './run-row.ts';

/** Runs that were read after their page, or after all pages, merged into the list. */
export interface LaterRuns {
  /** All runs, newest first. */
  readonly rows: ComputedRef<readonly RunRow[]>;
  /** New runs that arrived while the list was on hold. */
  readonly heldCount: ComputedRef<number>;
  isKnown(id: string): boolean;
  /** Adds runs, or replaces those that are known. */
  add(read: readonly RunRow[]): void;
  /**
   * Removes runs that no longer have the requested outcome. `newest` are all runs that have it, down to the oldest of
   * them, or all there are; `changed` are other known runs.
   */
  removeOthers(newest: readonly RunRow[], isAll: boolean, changed: readonly RunRow[]): void;
  forget(): void;
  /** While the list is on hold, no row moves. */
  readonly hold: (isHeld: boolean) => void;
  readonly letGo: () => void;
}

export function useLaterRuns(
  paged: ComputedRef<readonly RunRow[]>,
  outcome: ComputedRef<RunOutcomeName | undefined>,
): LaterRuns {
  const isHeld = ref(false);
  const later = shallowRef<ReadonlyMap<string, RunRow>>(new Map());
  const held = shallowRef<ReadonlySet<string>>(new Set());
  const gone = shallowRef<ReadonlySet<string>>(new Set());
  const pagedIds = computed(() => new Set(paged.value.map(({ id }) => id)));
  const rows = computed(() => {
    const isNew = ({ id }: RunRow): boolean => !pagedIds.value.has(id) && !held.value.has(id);
    const fresh = [...later.value.values()].filter(isNew).sort(newestFirst);
    const all = [...fresh, ...paged.value.map((row) => later.value.get(row.id) ?? row)];
    if (outcome.value === undefined) return all;
    // An older run can get the outcome later.
    return all.filter(({ id }) => isHeld.value || !gone.value.has(id)).sort(newestFirst);
  });
  const isKnown = (id: string): boolean => pagedIds.value.has(id) || later.value.has(id);

  function add(read: readonly RunRow[]): void {
    if (isHeld.value)
      held.value = new Set([...held.value, ...read.flatMap(({ id }) => (isKnown(id) ? [] : [id]))]);
    later.value = new Map([...later.value, ...read.map((row) => [row.id, row] as const)]);
  }

  function removeOthers(newest: readonly RunRow[], isAll: boolean, changed: readonly RunRow[]): void {
    if (outcome.value === undefined) return;
    const has = new Set(newest.map(({ id }) => id));
    const oldest = isAll ? -Infinity : (newest.at(-1)?.startedAt ?? Infinity);
    const lost = [
      ...[...paged.value, ...later.value.values()].filter(({ startedAt }) => startedAt > oldest),
      ...changed.filter((row) => row.outcome !== outcome.value),
    ];
    gone.value = new Set([...gone.value, ...lost.map(({ id }) => id)].filter((id) => !has.has(id)));
  }

  function forget(): void {
    later.value = new Map();
    held.value = new Set();
    gone.value = new Set();
  }

  const letGo = (): void => void (held.value = new Set());
  function hold(shallHold: boolean): void {
    isHeld.value = shallHold;
    if (!shallHold) letGo();
  }
  const heldCount = computed(() => held.value.size);
  return { rows, heldCount, isKnown, add, removeOthers, forget, hold, letGo };
}

function newestFirst(one: RunRow, other: RunRow): number {
  return other.startedAt - one.startedAt;
}
