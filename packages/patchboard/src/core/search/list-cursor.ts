import { BadCursor } from '../ports.ts';
import type { CallSort, FoundCall } from './call-search.ts';

/** Where a page of calls ended. */
export interface ListCursor {
  /** The time of the first page, which later pages use too; null: from a version that had no such time. */
  readonly startedAt: number | null;
  /** Null: the page came from `Store.listCalls`. */
  readonly sort: CallSort | null;
  readonly id: string;
  /** What the last call of the page is sorted by. */
  readonly value: number;
}

const FORMAT =
  /^(?:(\d{1,15})\.(?:list|(created|waited|ran|total)\.(asc|desc)\.(-?\d{1,15}))\.)?(tc_[A-Za-z0-9_-]{1,64})$/;

/** Throws `BadCursor` for any other text. */
export function parseListCursor(text: string): ListCursor {
  const [, startedAt, by, order, value = '0', id = ''] = FORMAT.exec(text) ?? [];
  if (id === '') throw new BadCursor();
  return {
    startedAt: startedAt === undefined ? null : Number(startedAt),
    sort: by === undefined ? null : { by: by as CallSort['by'], isAscending: order === 'asc' },
    id,
    value: Number(value),
  };
}

export function storeCursor(startedAt: number, id: string): string {
  return `${startedAt}.list.${id}`;
}

export function searchCursor(startedAt: number, sort: CallSort, { id, value }: FoundCall): string {
  return `${startedAt}.${sort.by}.${sort.isAscending ? 'asc' : 'desc'}.${value}.${id}`;
}
