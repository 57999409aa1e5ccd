import type { Exchange } from '../exchange.ts';
import { membersOf, resultJson } from '../messages/result-json.ts';
import { invalidParams } from '../messages/rpc-error.ts';

/** Entries of one page of a list. */
export const PAGE_SIZE = 250;

/** How long a client may use a list without a request. Changes are notified. */
const LIST_TTL_MS = 30_000;

/** The members of a result that a client may cache. What a principal sees is its own. */
export function cachingMembers({ era }: Pick<Exchange, 'era'>, ttlMs: number): string {
  return era === 'modern' ? `,${membersOf({ ttlMs, cacheScope: 'private' })}` : '';
}

const MAX_CURSOR_CHARACTERS = 16_384;
const SEPARATOR = '\n';

/** The key after which the page begins, null for the first page. Throws if another list made the cursor. */
export function pageStart({ params }: Pick<Exchange, 'params'>, list: string): string | null {
  const { cursor } = params;
  if (cursor === undefined) return null;
  const key = typeof cursor === 'string' ? keyIn(cursor, list) : null;
  if (key === null) throw invalidParams(`cursor is none that ${list} returned`);
  return key;
}

/** `rows` are JSON texts; `lastKey` is that of the last row if there are more, else null. */
export function pageResult(
  exchange: Pick<Exchange, 'era'>,
  { list, plural }: { readonly list: string; readonly plural: string },
  rows: readonly string[],
  lastKey: string | null,
): string {
  const next = lastKey === null ? '' : `,"nextCursor":${JSON.stringify(cursorOf(lastKey, list))}`;
  const caching = cachingMembers(exchange, LIST_TTL_MS);
  return resultJson(exchange.era, `"${plural}":[${rows.join(',')}]${next}${caching}`);
}

function cursorOf(key: string, list: string): string {
  return Buffer.from(`${list}${SEPARATOR}${key}`).toString('base64url');
}

function keyIn(cursor: string, list: string): string | null {
  if (cursor.length > MAX_CURSOR_CHARACTERS) return null;
  const text = Buffer.from(cursor, 'base64url').toString('utf8');
  const prefix = `${list}${SEPARATOR}`;
  if (!text.startsWith(prefix)) return null;
  const key = text.slice(prefix.length);
  return cursorOf(key, list) === cursor ? key : null;
}
