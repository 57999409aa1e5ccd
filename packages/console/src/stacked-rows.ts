import type { Directive } from 'vue';

/** Where there is no room for columns each row of a table is a small list: every cell says the heading of its column. */
export const vStacked: Directive<HTMLTableElement> = { mounted: nameCells, updated: nameCells };

function nameCells(table: HTMLTableElement): void {
  // A heading that is only read aloud stands over buttons, which say themselves what they do.
  const headings = [...table.querySelectorAll('thead th')].map((heading) =>
    heading.querySelector('.sr-only') === null ? heading.textContent.trim() : '',
  );
  for (const row of table.querySelectorAll<HTMLTableRowElement>('tbody tr'))
    for (const [column, cell] of [...row.cells].entries()) cell.dataset['heading'] = headings[column] ?? '';
}
