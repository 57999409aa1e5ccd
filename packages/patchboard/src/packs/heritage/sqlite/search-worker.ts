import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import { messageOf } from '../../../core/failures.ts';
import type { SiteScope } from '../records.ts';
import type { ContentQuery, FoundContent } from '../storage.ts';
import { ContentTable } from './content-table.ts';
import { SiteTables } from './site-tables.ts';

export interface SearchRequest {
  readonly number: number;
  readonly scope: SiteScope;
  readonly query: ContentQuery;
}

export type SearchReply = { readonly number: number } & (
  | { readonly found: FoundContent }
  /** Message and code of SQLite, because an error sent to another thread loses its code. */
  | { readonly problem: string; readonly errcode: number | null }
);

const { file, busyTimeoutMs } = workerData as { file: string; busyTimeoutMs: number };
const database = new DatabaseSync(file, { readOnly: true, timeout: busyTimeoutMs, defensive: true });
const sites = new SiteTables(database);
const contents = new ContentTable(database);

parentPort?.on('message', (request: SearchRequest) => parentPort?.postMessage(reply(request)));

function reply({ number, scope, query }: SearchRequest): SearchReply {
  try {
    const site = sites.find(scope);
    return {
      number,
      found: site === undefined ? { items: [], total: 0 } : contents.search(site.no, query),
    };
  } catch (error) {
    const { errcode } = error as { errcode?: unknown };
    return { number, problem: messageOf(error), errcode: typeof errcode === 'number' ? errcode : null };
  }
}
