import type { Arm, Outcome, SideBySide, Target, Unit } from '../figure.ts';
import { armOf } from '../measurement.ts';
import { shortNumber } from '../outcome.ts';
import { median, spreadOf } from '../statistics.ts';
import type { PageLoad } from './page-load.ts';

interface Column {
  readonly name: string;
  readonly unit: Unit;
  readonly of: (load: PageLoad) => number;
  /** The outcome of the page with the largest median. */
  readonly outcome: string;
  readonly target: Target;
}

const KB = 1000;

/** What is measured in a unit. The targets are what the console took before it had runs, queries and metrics of the server. */
const COLUMNS: readonly Column[] = [
  {
    name: 'LCP, ms',
    unit: 'ms',
    of: ({ lcpMs }) => lcpMs,
    outcome: 'LCP of the slowest page',
    target: { atMost: 700 },
  },
  {
    name: 'longest task, ms',
    unit: 'ms',
    of: ({ longestTaskMs }) => longestTaskMs,
    outcome: 'longest task of any page',
    target: { atMost: 223 },
  },
  {
    name: 'slowest request, ms',
    unit: 'ms',
    of: ({ api }) => Math.max(0, ...api.map(({ ms }) => ms)),
    outcome: 'slowest request of any page',
    target: { atMost: 1000 },
  },
  {
    name: 'KB',
    unit: 'KB',
    of: ({ bytes }) => bytes / KB,
    outcome: 'transfer of the largest page',
    target: { atMost: 376 },
  },
];

/** What is counted; it has no spread. */
const COUNTS: readonly (readonly [name: string, of: (load: PageLoad) => number | null])[] = [
  ['KB of the API', ({ api }) => sum(api.map(({ bytes }) => bytes)) / KB],
  ['requests', ({ api }) => api.length],
  ['repeated', (load) => repeatedIn(load).length],
  ['rows received', ({ api }) => sum(api.map(({ rows }) => rows))],
  ['rows shown', ({ rowsShown }) => rowsShown],
];

/** The loads of each page on each store. */
export class LoadTable {
  readonly #loads: Map<string, Map<string, PageLoad[]>> = new Map();

  add(store: string, page: string, load: PageLoad): void {
    const ofStore = this.#loads.get(store) ?? new Map<string, PageLoad[]>();
    this.#loads.set(store, ofStore);
    ofStore.set(page, [...(ofStore.get(page) ?? []), load]);
  }

  outcomes(): Outcome[] {
    return COLUMNS.flatMap(({ outcome, unit, of, target }) =>
      [...this.#loads].map(([store, pages]) => {
        const runs = [...pages.values()].map((loads) => loads.map(of));
        const worst = runs.toSorted((one, other) => median(other) - median(one))[0] ?? [];
        return { name: `${outcome}, ${store}`, unit, target, ...spreadOf(worst) };
      }),
    );
  }

  arms(): Record<string, Arm> {
    return Object.fromEntries(
      this.#pages().flatMap(({ name, loads }) =>
        COLUMNS.map(
          (column) => [`${name}: ${column.name}`, armOf(column.unit, loads.map(column.of))] as const,
        ),
      ),
    );
  }

  sideBySide(): SideBySide {
    return {
      columns: [...COLUMNS.flatMap(({ name }) => [name, 'worst']), ...COUNTS.map(([name]) => name)],
      rows: this.#pages().map(({ name, loads }) => ({
        name,
        cells: [
          ...COLUMNS.flatMap(({ of }) => {
            const runs = loads.map(of);
            return [median(runs), Math.max(...runs)];
          }),
          ...COUNTS.map(([, of]) => countIn(loads, of)),
        ],
      })),
    };
  }

  #pages(): { name: string; loads: readonly PageLoad[] }[] {
    return [...this.#loads].flatMap(([store, pages]) =>
      [...pages].map(([page, loads]) => ({ name: `${page}, ${store}`, loads })),
    );
  }
}

/** One line about each request of a page, the slowest first. */
export function describeLoad(load: PageLoad): string {
  const requests = load.api
    .toSorted((one, other) => other.ms - one.ms)
    .map(
      ({ method, path, ms, bytes, rows }) =>
        `\n    ${method} ${path}: ${shortNumber(ms)} ms, ${shortNumber(bytes / KB)} KB, ${rows} rows`,
    );
  return `${shortNumber(load.lcpMs)} ms${requests.join('')}`;
}

/** The requests that the page has sent before. */
function repeatedIn({ api }: Pick<PageLoad, 'api'>): readonly string[] {
  const names = api.map(({ method, path }) => `${method} ${path}`);
  return names.filter((name, index) => names.indexOf(name) < index);
}

function countIn(loads: readonly PageLoad[], of: (load: PageLoad) => number | null): number | null {
  const counts = loads.map(of).filter((count) => count !== null);
  return counts.length === 0 ? null : median(counts);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
