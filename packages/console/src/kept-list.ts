import { ref, watch, type Ref } from 'vue';

/** Kept in this browser. What cannot be read is as good as nothing. */
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
