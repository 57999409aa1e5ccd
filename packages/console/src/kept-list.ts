import { ref, watch, type Ref } from 'vue';

/** A list in local storage. An unreadable value counts as an empty list. */
export function keptList<T>(key: string, isOne: (value: unknown) => boolean): Ref<readonly T[]> {
  let rows: unknown = [];
  try {
    rows = JSON.parse(localStorage.getItem(key) ?? '[]');
  } catch {
    rows = [];
  }
  const list = Array.isArray(rows) ? rows.filter((row): row is T => isOne(row)) : [];
  const store = ref(list) as Ref<readonly T[]>;
  watch(store, (now) => localStorage.setItem(key, JSON.stringify(now)));
  return store;
}
