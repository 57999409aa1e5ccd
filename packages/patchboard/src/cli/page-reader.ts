import type { Page } from '@patchboard/client';

/** The largest page of a list. */
const LARGEST_PAGE = 200;

/** Rows of a list, read up to a limit. */
export interface ReadRows<T> {
  readonly rows: readonly T[];
  /** Where the next row is; null if there is none. */
  readonly nextCursor: string | null;
  /** False: the newest rows may be missing, because the index is behind the store. */
  readonly isComplete: boolean;
}

/**
 * Reads pages until there are `limit` rows. The last page has only as many rows as are missing, so that the cursor is that of
 * the next row: `pageOf` gets the size and the cursor.
 */
export async function readRows<T>(
  limit: number,
  cursor: string | null,
  pageOf: (size: number, cursor: string | null) => Promise<Page<T>>,
): Promise<ReadRows<T>> {
  const rows: T[] = [];
  let nextCursor = cursor;
  let isComplete = true;
  do {
    const page = await pageOf(Math.min(limit - rows.length, LARGEST_PAGE), nextCursor);
    rows.push(...page.items);
    nextCursor = page.nextCursor;
    isComplete &&= page.complete !== false;
  } while (nextCursor !== null && rows.length < limit);
  return { rows, nextCursor, isComplete };
}
