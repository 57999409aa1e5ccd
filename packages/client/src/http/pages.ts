import { boolean, listOf, nullable, record, string, type Decoder } from '../decode/decode.ts';
import { boundsOf, request, withQuery, type RequestOptions } from './http.ts';
import type { Settings } from './options.ts';

export interface Page<T> {
  readonly items: readonly T[];
  /** Pass it to `page` for the next page; null on the last. */
  readonly nextCursor: string | null;
  /** Only of a search. False: the index is behind the store, and the newest rows may be missing. */
  readonly complete?: boolean;
}

/** A paginated list: iterate over all rows, or fetch single pages. */
export interface Pages<T> extends AsyncIterable<T> {
  page(cursor?: string | null): Promise<Page<T>>;
}

export interface ListSource<T> {
  readonly path: string;
  /** The field of the body that holds the rows. */
  readonly plural: string;
  readonly query: Readonly<Record<string, string | number | undefined>>;
  readonly decode: Decoder<T>;
}

export function pages<T>(settings: Settings, source: ListSource<T>, options: RequestOptions): Pages<T> {
  async function page(cursor: string | null = null): Promise<Page<T>> {
    const path = withQuery(source.path, { ...source.query, cursor });
    const decode = pageOf(source.plural, source.decode);
    return request(settings, { method: 'GET', path, repeat: 'safe' }, decode, boundsOf(options));
  }

  async function* all(): AsyncGenerator<T, void, undefined> {
    let cursor: string | null = null;
    do {
      const next: Page<T> = await page(cursor);
      yield* next.items;
      cursor = next.nextCursor;
    } while (cursor !== null);
  }

  return { page, [Symbol.asyncIterator]: all };
}

export function pageOf<T>(plural: string, decode: Decoder<T>): Decoder<Page<T>> {
  return (value, path) => {
    const body = record(value, path);
    const complete = body['complete'];
    // Unlike a list inside a record, the rows are required.
    return {
      items: listOf(decode)(body[plural] ?? null, plural),
      nextCursor: nullable(string)(body['next_cursor'], 'next_cursor'),
      ...(complete === undefined ? {} : { complete: boolean(complete, 'complete') }),
    };
  };
}
