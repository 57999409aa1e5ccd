import { isTerminal } from '@patchboard/wire';
import { PAGE_CHARACTERS } from '../../core/call/call-size.ts';
import type { Call } from '../../core/call/call.ts';
import type { CallFilter, Page } from '../../core/ports.ts';
import type { Queryable, Statement } from '../../postgres/connection.ts';
import { callPage } from '../call-pages.ts';
import { callCursor } from '../cursors.ts';
import type { CallReader } from './call-reader.ts';
import { callWindows, windowValues, type CallWindows } from './call-windows.ts';
import type { Tables } from './schema.ts';

export interface CallListsParts {
  readonly reader: Queryable;
  readonly tables: Tables;
  readonly calls: CallReader;
  /** Returns the smallest id that a call made at that time, or later, can have. */
  readonly firstIdAt: (ms: number) => string;
}

/** Rows of the first window, and of the largest. */
const SMALLEST_WINDOW = 64;
const LARGEST_WINDOW = 4096;
/** Windows grow by this factor while they contain too few matches. */
const GROWTH = 4;
/** A search by time is complete if the wall clock never stepped back by more than this. */
const CLOCK_STEP_MS = 3_600_000;
const AFTER_EVERY_ID = 'tc_~';

/** A match, or the last row of a full window: the next one begins there. */
interface WindowRow {
  readonly id: string;
  readonly created_at: number;
  readonly matches: boolean;
}

/** Lists calls newest first. Reads windows of rows in order of the id, so that no statement scans without bound. */
export class CallLists {
  readonly #parts: CallListsParts;
  readonly #windows: CallWindows;

  constructor(parts: CallListsParts) {
    this.#parts = parts;
    this.#windows = callWindows(parts.tables);
  }

  async listCalls(filter: CallFilter, cursor: string | null, limit: number): Promise<Page<Call>> {
    const before = cursor === null ? AFTER_EVERY_ID : callCursor(cursor);
    const ids = await this.#find(filter, this.#lowered(before, filter.until), limit + 1);
    const fitting = await this.#cutBySize(ids);
    const calls = await this.#parts.calls.findMany(fitting.slice(0, limit));
    const page = callPage(
      fitting.map((id) => ({ id })),
      limit,
      ({ id }) => {
        const call = calls.get(id);
        // Its state may have changed since it was found.
        return call === undefined || filter.states?.includes(call.state.name) === false ? undefined : call;
      },
    );
    if (page.nextCursor !== null || fitting.length === ids.length) return page;
    return { items: page.items, nextCursor: fitting.at(-1) ?? null };
  }

  /** Returns the first ids whose calls are read together; the others would make the page too large. */
  async #cutBySize(ids: readonly string[]): Promise<readonly string[]> {
    const sizes = await this.#parts.calls.sizesOf(ids);
    let bytes = 0;
    const end = ids.findIndex((id) => {
      if (bytes >= PAGE_CHARACTERS) return true;
      bytes += sizes.get(id) ?? 0;
      return false;
    });
    return end === -1 ? ids : ids.slice(0, end);
  }

  #lowered(before: string, until: number | undefined): string {
    if (until === undefined) return before;
    const first = this.#parts.firstIdAt(until + CLOCK_STEP_MS);
    return first < before ? first : before;
  }

  async #find(filter: CallFilter, before: string, wanted: number): Promise<readonly string[]> {
    const { runId, states } = filter;
    if (states?.length === 0) return [];
    if (runId !== undefined) return await this.#listWindows(this.#windows.ofRun, filter, before, wanted);
    if (states === undefined || states.includes('COMPLETED'))
      return await this.#listWindows(this.#windows.ofTenant, filter, before, wanted);
    // Open calls first: one that ends meanwhile is found twice, not missed.
    const ended = [...new Set(states)].filter(isTerminal).map((state) => this.#windows.ended(state));
    const windows = states.every(isTerminal) ? ended : [this.#windows.open, ...ended];
    const found = new Set<string>();
    for (const window of windows)
      for (const id of await this.#listWindows(window, filter, before, wanted)) found.add(id);
    return [...found].sort((a, b) => (a < b ? 1 : -1)).slice(0, wanted);
  }

  async #listWindows(
    window: Statement,
    filter: CallFilter,
    start: string,
    wanted: number,
  ): Promise<string[]> {
    const found: string[] = [];
    const values = windowValues(filter);
    let size = SMALLEST_WINDOW;
    for (let before = start; found.length < wanted;) {
      const left = wanted - found.length;
      size = Math.min(Math.max(size, left), LARGEST_WINDOW);
      const { rows } = await this.#parts.reader.query<WindowRow>(window, [before, size, left, ...values]);
      for (const { id, matches } of rows) if (matches) found.push(id);
      const end = rows.find(({ matches }) => !matches);
      if (end === undefined) break;
      if (end.created_at < (filter.since ?? -Infinity) - CLOCK_STEP_MS) break;
      before = end.id;
      size *= GROWTH;
    }
    return found;
  }
}
