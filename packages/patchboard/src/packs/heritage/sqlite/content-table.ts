import type { DatabaseSync, SQLInputValue, SQLOutputValue, StatementSync } from 'node:sqlite';
import type { ContentItem } from '../records.ts';
import { indexTerms, matchExpression } from '../search-terms.ts';
import type { ContentQuery, FoundContent } from '../storage.ts';

type Row = Record<string, SQLOutputValue>;

/** With more hits than this, how often a word stands where says little, and weighing them all takes long. */
const WEIGHED_HITS = 2000;

const COLUMNS = `id, content_type, title, body, summary, tags, domains, source, credibility_score, verified, status,
  created_at`;

/** Contents of all sites, and the index of their terms. */
export class ContentTable {
  readonly #insert: StatementSync;
  readonly #remove: StatementSync;
  readonly #removeTerms: StatementSync;
  readonly #insertTerms: StatementSync;
  readonly #byId: StatementSync;
  readonly #ofSite: StatementSync;
  readonly #count: StatementSync;
  readonly #weighed: StatementSync;
  readonly #newest: StatementSync;
  readonly #byNo: StatementSync;

  constructor(database: DatabaseSync) {
    this.#insert = database.prepare(
      `insert into contents (site, ${COLUMNS}) values (?, ${COLUMNS.replaceAll(/\w+/g, '?')})`,
    );
    this.#remove = database.prepare('delete from contents where site = ? and id = ? returning no');
    this.#removeTerms = database.prepare('delete from content_terms where rowid = ?');
    this.#insertTerms = database.prepare(
      'insert into content_terms (rowid, labels, title, tags, body) values (?, ?, ?, ?, ?)',
    );
    this.#byId = database.prepare(`select ${COLUMNS} from contents where site = ? and id = ?`);
    this.#ofSite = database.prepare(`select ${COLUMNS} from contents where site = ? order by no`);
    this.#count = database.prepare('select count(*) as hits from content_terms where content_terms match ?');
    // A word in the title says most about an item, then a tag. What is better attested wins a tie.
    this.#weighed = database.prepare(
      `select ${COLUMNS.replaceAll(/\w+/g, 'contents.$&')} from content_terms join contents on no = content_terms.rowid
       where content_terms match ? order by bm25(content_terms, 0, 10, 5, 1), credibility_score desc, no desc limit ?`,
    );
    this.#newest = database.prepare(
      'select rowid as no from content_terms where content_terms match ? order by rowid desc limit ?',
    );
    this.#byNo = database.prepare(`select ${COLUMNS} from contents where no = ?`);
  }

  find(site: number, id: string): ContentItem | undefined {
    const row = this.#byId.get(site, id);
    return row === undefined ? undefined : toContent(row);
  }

  all(site: number): ContentItem[] {
    return this.#ofSite.all(site).map(toContent);
  }

  put(site: number, item: ContentItem): void {
    const old = this.#remove.get(site, item.id);
    if (old !== undefined) this.#removeTerms.run(old['no'] as number);
    const { lastInsertRowid } = this.#insert.run(site, ...valuesOf(item));
    const { title, tags, domains, summary, body } = item;
    this.#insertTerms.run(
      lastInsertRowid,
      labelsOf(site, item),
      indexTerms(title),
      indexTerms([...tags, ...domains].join('\n')),
      indexTerms(`${summary ?? ''}\n${body}`),
    );
  }

  search(site: number, query: ContentQuery): FoundContent {
    const words = matchExpression(query.text);
    if (words === null) return { items: [], total: 0 };
    const filter = filterExpression(site, query);
    const match = `${filter} AND {title tags body} : (${words})`;
    const total = Number(this.#count.get(match)?.['hits']);
    if (total === 0) return { items: [], total };
    if (total <= WEIGHED_HITS) return { items: this.#weighed.all(match, query.limit).map(toContent), total };
    return { items: this.#manyHits(match, `${filter} AND title : (${words})`, query.limit), total };
  }

  /** Those with the words in their title first, each part newest first. */
  #manyHits(match: string, titleMatch: string, limit: number): ContentItem[] {
    const numbers = new Set<SQLInputValue>();
    for (const expression of [titleMatch, match]) {
      // What is in the first part comes again in the second, so that it must bring as many.
      for (const { no } of this.#newest.all(expression, limit + numbers.size)) numbers.add(no as number);
    }
    return [...numbers].slice(0, limit).flatMap((no) => {
      const row = this.#byNo.get(no);
      return row === undefined ? [] : [toContent(row)];
    });
  }
}

/** Site, status, type and tags are terms too: the index alone says what is found, in every tenant as fast. */
function labelsOf(site: number, { status, content_type: type, tags }: ContentItem): string {
  return [siteLabel(site, status), label('type', type), ...tags.map((tag) => label('tag', tag))].join(' ');
}

function filterExpression(site: number, { status, contentType, tags }: ContentQuery): string {
  const parts = [siteLabel(site, status)];
  if (contentType !== null) parts.push(label('type', contentType));
  if (tags.length > 0) parts.push(`(${tags.map((tag) => label('tag', tag)).join(' OR ')})`);
  return `labels : (${parts.join(' AND ')})`;
}

function siteLabel(site: number, status: string): string {
  return label(`site${site}`, status);
}

/** In hexadecimal: whatever the text holds, it is one term and no syntax. */
function label(kind: string, text: string): string {
  return `${kind}x${Buffer.from(text, 'utf8').toString('hex')}`;
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

/** The tables are strict, so the types hold. */
function toContent(row: Row): ContentItem {
  const { tags, domains, verified, ...rest } = row;
  return {
    ...(rest as unknown as Omit<ContentItem, 'tags' | 'domains' | 'verified'>),
    tags: JSON.parse(String(tags)) as string[],
    domains: JSON.parse(String(domains)) as string[],
    verified: verified === 1,
  };
}
