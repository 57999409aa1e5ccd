import type { DatabaseSync, SQLInputValue, SQLOutputValue, StatementSync } from 'node:sqlite';
import type { ContentItem } from '../records.ts';
import type { ContentQuery, FoundContent } from '../storage.ts';
import { ContentIndex, hasIndex, makeIndex } from './content-index.ts';

type Row = Record<string, SQLOutputValue>;

const COLUMNS = `id, content_type, title, body, summary, tags, domains, source, credibility_score, verified, status,
  created_at`;

/** The contents of all sites, with one full-text index per site. */
export class ContentTable {
  readonly #database: DatabaseSync;
  readonly #indexes: Map<number, ContentIndex> = new Map();
  readonly #insert: StatementSync;
  readonly #remove: StatementSync;
  readonly #byId: StatementSync;
  readonly #ofSite: StatementSync;
  readonly #byNo: StatementSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#insert = database.prepare(
      `insert into contents (site, ${COLUMNS}) values (?, ${COLUMNS.replaceAll(/\w+/g, '?')})`,
    );
    this.#remove = database.prepare('delete from contents where site = ? and id = ? returning no');
    this.#byId = database.prepare(`select ${COLUMNS} from contents where site = ? and id = ?`);
    this.#ofSite = database.prepare(`select ${COLUMNS} from contents where site = ? order by no`);
    this.#byNo = database.prepare(`select ${COLUMNS} from contents where no = ?`);
  }

  find(site: number, id: string): ContentItem | undefined {
    const row = this.#byId.get(site, id);
    return row === undefined ? undefined : toContent(row);
  }

  all(site: number): ContentItem[] {
    return this.#ofSite.all(site).map(toContent);
  }

  /** Must be called within a transaction. Creates the index of a new site. */
  put(site: number, item: ContentItem): void {
    const index = this.#indexes.get(site) ?? this.#indexOf(site);
    const old = this.#remove.get(site, item.id);
    if (old !== undefined) index.remove(old['no'] as number);
    const { lastInsertRowid } = this.#insert.run(site, ...valuesOf(item));
    index.put(Number(lastInsertRowid), item);
  }

  search(site: number, query: ContentQuery): FoundContent {
    // A site without contents has no index yet.
    if (!this.#indexes.has(site) && !hasIndex(this.#database, site)) return { items: [], total: 0 };
    const { numbers, total } = this.#known(site).search(query);
    const items = numbers.flatMap((no) => {
      const row = this.#byNo.get(no);
      return row === undefined ? [] : [toContent(row)];
    });
    return { items, total };
  }

  /** Must be called after a rollback, which drops indexes created in the transaction. */
  forgetIndexes(): void {
    this.#indexes.clear();
  }

  #indexOf(site: number): ContentIndex {
    makeIndex(this.#database, site);
    return this.#known(site);
  }

  #known(site: number): ContentIndex {
    const index = this.#indexes.get(site) ?? new ContentIndex(this.#database, site);
    this.#indexes.set(site, index);
    return index;
  }
}

function valuesOf(item: ContentItem): SQLInputValue[] {
  return [
    item.id,
    item.content_type,
    item.title,
    item.body,
    item.summary,
    JSON.stringify(item.tags),
    JSON.stringify(item.domains),
    item.source,
    item.credibility_score,
    item.verified ? 1 : 0,
    item.status,
    item.created_at,
  ];
}

/** The tables are strict, so the column types are guaranteed. */
function toContent(row: Row): ContentItem {
  const { tags, domains, verified, ...rest } = row;
  return {
    ...(rest as unknown as Omit<ContentItem, 'tags' | 'domains' | 'verified'>),
    tags: JSON.parse(String(tags)) as string[],
    domains: JSON.parse(String(domains)) as string[],
    verified: verified === 1,
  };
}
