import { describe, expect, it } from 'vitest';
import { describeLoad, LoadTable } from '../bench/console/load-table.ts';
import type { PageLoad } from '../bench/console/page-load.ts';

const TOOLS = { method: 'GET', path: '/v1/tools', bytes: 2000, ms: 12, rows: 40 };
const LOAD: PageLoad = {
  lcpMs: 300,
  longestTaskMs: 0,
  bytes: 300_000,
  api: [TOOLS, { ...TOOLS, path: '/v1/stats', bytes: 500, ms: 40, rows: 0 }, TOOLS],
  rowsShown: 40,
};

function aTable(): LoadTable {
  const table = new LoadTable();
  for (const lcpMs of [300, 500, 400]) table.add('SQLite', 'tools', { ...LOAD, lcpMs });
  table.add('SQLite', 'settings', { ...LOAD, lcpMs: 100, bytes: 400_000, rowsShown: null, api: [] });
  return table;
}

describe('the loads of pages', () => {
  it('have the page with the largest median as outcome, beside its target', () => {
    const outcomes = Object.fromEntries(
      aTable()
        .outcomes()
        .map(({ name, ...outcome }) => [name, outcome]),
    );
    expect(outcomes).toMatchObject({
      'LCP of the slowest page, SQLite': { value: 400, min: 300, max: 500, target: { atMost: 700 } },
      'slowest request of any page, SQLite': { value: 40 },
      'transfer of the largest page, SQLite': { value: 400, unit: 'KB', target: { atMost: 376 } },
    });
  });

  it('have the median and the worst of each page, and what it requested', () => {
    const { columns, rows } = aTable().sideBySide();
    const cells = (name: string): Record<string, number | null> => {
      const row = rows.find((one) => one.name === name);
      return Object.fromEntries(columns.map((column, at) => [column, row?.cells[at] ?? null]));
    };
    expect(cells('tools, SQLite')).toMatchObject({
      'LCP, ms': 400,
      'KB of the API': 4.5,
      requests: 3,
      repeated: 1,
      'rows received': 80,
      'rows shown': 40,
    });
    expect(rows[0]?.cells[1]).toBe(500);
    expect(cells('settings, SQLite')).toMatchObject({ requests: 0, 'rows shown': null });
  });

  it('are described with the slowest request first', () => {
    expect(describeLoad(LOAD).split('\n')).toEqual([
      '300 ms',
      '    GET /v1/stats: 40.0 ms, 0.50 KB, 0 rows',
      '    GET /v1/tools: 12.0 ms, 2.00 KB, 40 rows',
      '    GET /v1/tools: 12.0 ms, 2.00 KB, 40 rows',
    ]);
  });
});
