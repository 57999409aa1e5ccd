import { ref, watch, type Ref } from 'vue';

/** A list in local storage, which all tabs share. An unreadable value counts as an empty list. */
export function keptList<T>(key: string, isOne: (value: unknown) => boolean): Ref<readonly T[]> {
  function read(): readonly T[] {
    try {
      const rows: unknown = JSON.parse(localStorage.getItem(key) ?? '[]');
      return Array.isArray(rows) ? rows.filter((row): row is T => isOne(row)) : [];
    } catch {
      return [];
    }
  }
  const store = ref(read()) as Ref<readonly T[]>;
  watch(store, (now) => localStorage.setItem(key, JSON.stringify(now)));
  // Another tab changed the list; null: all of the storage was cleared.
  addEventListener('storage', (event) => {
    if (event.key === key || event.key === null) store.value = read();
  });
  // A page in the back/forward cache gets no storage events.
  addEventListener('pageshow', ({ persisted }) => {
    if (persisted) store.value = read();
  });
  return store;
}
