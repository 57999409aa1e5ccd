import type { Queryable } from '../../../postgres/connection.ts';
import type { ContentItem } from '../records.ts';
import { contentTerms } from './content-terms.ts';
import type { HeritageTables } from './schema.ts';
import { storable } from './storable.ts';

/** An import sends items in parts of about this size, and an export reads this many items at once. */
const PART_CHARACTERS = 1_000_000;
const PAGE = 500;

/** The contents of all sites. */
export class ContentRecords {
  readonly #tables: HeritageTables;

  constructor(tables: HeritageTables) {
    this.#tables = tables;
  }

  /** Adds an item unless its id exists, and resolves to the stored item. Two statements, which may be repeated. */
  async add(database: Queryable, site: number, item: ContentItem): Promise<ContentItem> {
    await this.#insert(database, site, [rowOf(item)]);
    const text = `select doc from ${this.#tables.contents} where site = $1 and id = $2`;
    const { rows } = await database.query<{ doc: string }>({ name: 'heritage_content', text }, [
      site,
      storable(item.id),
    ]);
    return rows[0] === undefined ? item : (JSON.parse(rows[0].doc) as ContentItem);
  }

  /** Replaces items with the same id, which get the last place in the order. Must be called in a transaction. */
  async put(database: Queryable, site: number, items: readonly ContentItem[]): Promise<void> {
    for (const part of partsOf(items)) {
      const ids = part.map(({ id }) => id);
      await database.query(
        {
          name: 'heritage_remove_contents',
          text: `delete from ${this.#tables.contents} where site = $1 and id = any($2::text[])`,
        },
        [site, ids],
      );
      await this.#insert(database, site, part);
    }
  }

  async all(database: Queryable, site: number): Promise<ContentItem[]> {
    const items: ContentItem[] = [];
    const text = `select no, doc from ${this.#tables.contents} where site = $1 and no > $2 order by no limit ${PAGE}`;
    for (let after = 0; ;) {
      const { rows } = await database.query<{ no: number; doc: string }>(
        { name: 'heritage_contents', text },
        [site, after],
      );
      for (const { doc } of rows) items.push(JSON.parse(doc) as ContentItem);
      const last = rows.at(-1);
      if (last === undefined || rows.length < PAGE) return items;
      after = last.no;
    }
  }

  async #insert(database: Queryable, site: number, rows: readonly ContentRow[]): Promise<void> {
    const columns = 'id, content_type, status, tags, credibility_score, term_count, terms, doc';
    await database.query(
      {
        name: 'heritage_add_contents',
        text: `insert into ${this.#tables.contents} (site, ${columns})
          select $1, ${columns} from json_to_recordset($2::json) as row (place int, id text, content_type text, status text,
            tags text[], credibility_score float8, term_count int, terms text, doc text)
          order by place on conflict (site, id) do nothing`,
      },
      [site, JSON.stringify(rows.map((row, place) => ({ place, ...row })))],
    );
  }
}

interface ContentRow {
  readonly id: string;
  readonly content_type: string;
  readonly status: string;
  readonly tags: readonly string[];
  readonly credibility_score: number | null;
  readonly term_count: number;
  readonly terms: string;
  /** The item as JSON. */
  readonly doc: string;
}

function rowOf(item: ContentItem): ContentRow {
  const { text, count } = contentTerms(item);
  return {
    id: storable(item.id),
    content_type: storable(item.content_type),
    status: storable(item.status),
    tags: item.tags.map(storable),
    credibility_score: item.credibility_score,
    term_count: count,
    terms: text,
    doc: JSON.stringify(item),
  };
}

/** Of items with the same id the last one counts. */
function* partsOf(items: readonly ContentItem[]): Generator<ContentRow[]> {
  const last = new Map<string, ContentItem>();
  for (const item of items) {
    last.delete(item.id);
    last.set(item.id, item);
  }
  let part: ContentRow[] = [];
  let size = 0;
  for (const item of last.values()) {
    const row = rowOf(item);
    part.push(row);
    size += row.doc.length + row.terms.length;
    if (size < PART_CHARACTERS) continue;
    yield part;
    part = [];
    size = 0;
  }
  if (part.length > 0) yield part;
}
