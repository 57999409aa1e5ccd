import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { ContentItem } from '../records.ts';
import { indexTerms, matchExpression } from '../search-terms.ts';
import type { ContentQuery } from '../storage.ts';

/** Up to this many hits are ranked by BM25. Beyond it the ranking would be slow and hardly meaningful. */
const WEIGHED_HITS = 2000;

export interface Hits {
  /** Row numbers of contents, best first, at most `limit`. */
  readonly numbers: readonly number[];
  readonly total: number;
}

const NO_HITS: Hits = { numbers: [], total: 0 };

/**
 * The full-text index of one site. Each site has its own, so that the contents of other sites affect neither speed nor
 * ranking.
 */
export class ContentIndex {
  readonly #insert: StatementSync;
  readonly #remove: StatementSync;
  readonly #count: StatementSync;
  readonly #countSome: StatementSync;
  readonly #weighed: StatementSync;
  readonly #newest: StatementSync;

  constructor(database: DatabaseSync, site: number) {
    const table = tableOf(site);
    this.#insert = database.prepare(
      `insert into ${table} (rowid, labels, title, tags, body) values (?, ?, ?, ?, ?)`,
    );
    this.#remove = database.prepare(`delete from ${table} where rowid = ?`);
    this.#count = database.prepare(`select count(*) as hits from ${table} where ${table} match ?`);
    this.#countSome = database.prepare(
      `select count(*) as hits from (select 1 from ${table} where ${table} match ? limit ?)`,
    );
    // The title has the highest weight, then tags. Credibility decides ties.
    this.#weighed = database.prepare(
      `select no from ${table} join contents on no = ${table}.rowid
       where ${table} match :words and status = :status and (:type is null or content_type = :type)
         and (:tags is null or exists (select 1 from json_each(contents.tags) where value in (select value from json_each(:tags))))
       order by bm25(${table}, 0, 10, 5, 1), credibility_score desc, no desc`,
    );
    this.#newest = database.prepare(
      `select rowid as no from ${table} where ${table} match ? order by rowid desc limit ?`,
    );
  }

  put(no: number, item: ContentItem): void {
    const { title, tags, domains, summary, body } = item;
    this.#insert.run(
      no,
      labelsOf(item),
      indexTerms(title),
      indexTerms([...tags, ...domains].join('\n')),
      indexTerms(`${summary ?? ''}\n${body}`),
    );
  }

  remove(no: number): void {
    this.#remove.run(no);
  }

  search(query: ContentQuery): Hits {
    const words = matchExpression(query.text);
    if (words === null) return NO_HITS;
    const match = `{title tags body} : (${words})`;
    const hits = Number(this.#countSome.get(match, WEIGHED_HITS + 1)?.['hits']);
    if (hits === 0) return NO_HITS;
    return hits <= WEIGHED_HITS ? this.#weigh(match, query) : this.#manyHits(words, match, query);
  }

  #weigh(words: string, { status, contentType, tags, limit }: ContentQuery): Hits {
    const wanted = tags.length === 0 ? null : JSON.stringify(tags);
    const rows = this.#weighed.all({ words, status, type: contentType, tags: wanted });
    return { numbers: rows.slice(0, limit).map(({ no }) => no as number), total: rows.length };
  }

  /** Returns hits in the title first, then the others, each newest first. */
  #manyHits(words: string, match: string, query: ContentQuery): Hits {
    const { limit } = query;
    const labels = filterExpression(query);
    const total = Number(this.#count.get(`${labels} AND ${match}`)?.['hits']);
    const numbers = new Set<number>();
    for (const expression of [`${labels} AND title : (${words})`, `${labels} AND ${match}`]) {
      if (numbers.size >= limit) break;
      // The second query also returns the hits of the first, so its limit is higher by their number.
      for (const { no } of this.#newest.all(expression, limit + numbers.size)) numbers.add(no as number);
    }
    return { numbers: [...numbers].slice(0, limit), total };
  }
}

export function hasIndex(database: DatabaseSync, site: number): boolean {
  const named = database.prepare('select 1 from sqlite_schema where name = ?');
  return named.get(tableOf(site)) !== undefined;
}

/** Creates a contentless FTS5 index; the text is in the table contents. The prefix index serves searches for one character. */
export function makeIndex(database: DatabaseSync, site: number): void {
  database.exec(`create virtual table if not exists ${tableOf(site)} using fts5 (
    labels, title, tags, body,
    content = '', contentless_delete = 1, prefix = '1', tokenize = 'unicode61 remove_diacritics 2'
  )`);
}

function tableOf(site: number): string {
  return `content_terms_${site}`;
}

/** Indexes status, type and tags as terms too, so that the index alone can filter many hits. */
function labelsOf({ status, content_type: type, tags }: ContentItem): string {
  return [label('status', status), label('type', type), ...tags.map((tag) => label('tag', tag))].join(' ');
}

function filterExpression({ status, contentType, tags }: ContentQuery): string {
  const parts = [label('status', status)];
  if (contentType !== null) parts.push(label('type', contentType));
  if (tags.length > 0) parts.push(`(${tags.map((tag) => label('tag', tag)).join(' OR ')})`);
  return `labels : (${parts.join(' AND ')})`;
}

/** Encodes in hexadecimal, so that any text is one term without FTS5 syntax. */
function label(kind: string, text: string): string {
  return `${kind}x${Buffer.from(text, 'utf8').toString('hex')}`;
}
