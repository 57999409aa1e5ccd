/** The row that a list was left at, kept with the entry of the browser's history: the back button returns to it. */

export function keepRow(id: string): void {
  history.replaceState({ ...history.state, row: id }, '');
}

/** Null if the page was not left at a row. */
export function keptRow(): string | null {
  const { row } = (history.state ?? {}) as { readonly row?: unknown };
  return typeof row === 'string' ? row : null;
}
