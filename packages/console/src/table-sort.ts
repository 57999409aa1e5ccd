/** Text, or the heading of a column that the rows can be sorted by. */
export type TableHeading = string | { readonly id: string; readonly words: string };

export interface TableSort {
  readonly id: string;
  readonly order: 'ascending' | 'descending';
}

/** Returns the sort after a click on the heading: the same column in the other order, or another one in `first`. */
export function sortAfter(sort: TableSort, id: string, first: TableSort['order']): TableSort {
  if (sort.id !== id) return { id, order: first };
  return { id, order: sort.order === 'ascending' ? 'descending' : 'ascending' };
}

/** What a column is sorted by: all rows have text or null, or all have a number or null. */
export type SortValue = string | number | null;

/** Returns a sorted copy of the rows. `of` returns what to compare; null is less than anything else. */
export function sortedRows<T>(
  rows: readonly T[],
  order: TableSort['order'],
  of: (row: T) => SortValue,
): readonly T[] {
  const sign = order === 'ascending' ? 1 : -1;
  return rows.toSorted((one, other) => sign * compare(of(one), of(other)));
}

function compare(one: SortValue, other: SortValue): number {
  if (one === other) return 0;
  if (one === null || other === null) return one === null ? -1 : 1;
  return one < other ? -1 : 1;
}
