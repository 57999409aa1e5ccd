import type { Directive } from 'vue';

/**
 * Copies each column's heading into its cells, because on narrow screens each row of a table is shown as a
 * list.
 */
export const vStacked: Directive<HTMLTableElement> = { mounted: nameCells, updated: nameCells };

function nameCells(table: HTMLTableElement): void {
  // Columns with a heading for screen readers only contain buttons, which have their own labels.
  const headings = [...table.querySelectorAll('thead th')].map((heading) =>
    heading.querySelector('.sr-only') === null ? heading.textContent.trim() : '',
  );
  for (const row of table.querySelectorAll<HTMLTableRowElement>('tbody tr'))
    for (const [column, cell] of [...row.cells].entries()) cell.dataset['heading'] = headings[column] ?? '';
}
