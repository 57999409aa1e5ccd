/** Chosen rows of a list, by id. */
export interface Selection {
  readonly ids: ReadonlySet<string>;
  /** The row that was chosen last: a range begins there. */
  readonly anchor: string | null;
}

export const NOTHING_SELECTED: Selection = { ids: new Set(), anchor: null };

/** Rows that can be chosen at once. */
export const MAX_SELECTED = 200;

/** Chooses the row, or drops it if it is chosen. */
export function toggled({ ids }: Selection, id: string): Selection {
  const next = new Set(ids);
  if (!next.delete(id) && next.size < MAX_SELECTED) next.add(id);
  return { ids: next, anchor: id };
}

/** Gives every row from the anchor to this one the state that this one gets. Without an anchor in the list it is toggled alone. */
export function rangeToggled(selection: Selection, order: readonly string[], id: string): Selection {
  const start = selection.anchor === null ? -1 : order.indexOf(selection.anchor);
  const end = order.indexOf(id);
  if (start === -1 || end === -1) return toggled(selection, id);
  const range = order.slice(Math.min(start, end), Math.max(start, end) + 1);
  const next = new Set(selection.ids);
  const isAdding = !selection.ids.has(id);
  for (const one of range) {
    if (!isAdding) next.delete(one);
    else if (next.size < MAX_SELECTED) next.add(one);
  }
  return { ids: next, anchor: id };
}

/** The first rows of the list, as many as can be chosen. */
export function allOf(order: readonly string[]): Selection {
  return { ids: new Set(order.slice(0, MAX_SELECTED)), anchor: null };
}
