import type { Queryable } from '../../../postgres/connection.ts';
import type { ContentItem, SiteScope } from '../records.ts';
import type { ContentQuery, FoundContent } from '../storage.ts';
import { bm25 } from './bm25.ts';
import { phrasePatterns, type PhrasePattern } from './content-terms.ts';
import type { HeritageTables } from './schema.ts';
import { storable } from './storable.ts';

/** Up to this many hits are ranked by BM25, as in SQLite. */
const WEIGHED_HITS = 2000;
const NOTHING: FoundContent = { items: [], total: 0 };
/** The title has the highest weight, then tags. */
const LINE_WEIGHTS = [10, 5, 1];

interface Counts {
  readonly site: number | null;
  readonly items: number;
  readonly terms: number;
  /** Items with all phrases. */
  readonly hits: number;
  /** Items with each phrase. */
  readonly phrases: readonly number[];
}

interface Hits {
  /** Row numbers of contents, best first. */
  readonly numbers: readonly number[];
  readonly total: number;
}

/**
 * Searches the contents of a site by reading the terms of all of them, in the server. No extension of PostgreSQL splits Chinese
 * text everywhere, and the contents of a site are few enough.
 */
export async function searchContents(
  database: Queryable,
  tables: HeritageTables,
  scope: SiteScope,
  query: ContentQuery,
): Promise<FoundContent> {
  const phrases = phrasePatterns(query.text);
  if (phrases.length === 0) return NOTHING;
  const counts = await countHits(database, tables, scope, phrases);
  if (counts.site === null || counts.hits === 0) return NOTHING;
  const found = { database, tables, site: counts.site, phrases, query };
  const { numbers, total } = counts.hits <= WEIGHED_HITS ? await weigh(found, counts) : await newest(found);
  return { items: await itemsOf(database, tables, numbers), total };
}

async function countHits(
  database: Queryable,
  tables: HeritageTables,
  { tenant, site }: SiteScope,
  phrases: readonly PhrasePattern[],
): Promise<Counts> {
  const names = phrases.map((_, index) => `has${index}`);
  const { rows } = await database.query<Record<string, number>>(
    {
      name: `heritage_count_${phrases.length}`,
      // `offset 0`: each phrase is searched for once in an item.
      text: `select max(site) as site, count(*) as items, coalesce(sum(term_count), 0) as terms,
          count(*) filter (where ${names.join(' and ')}) as hits,
          ${names.map((name) => `count(*) filter (where ${name}) as ${name}`).join(', ')}
        from (
          select site, term_count, ${names.map((name, index) => `strpos(terms, $${index + 3}) > 0 as ${name}`).join(', ')}
          from ${tables.contents} where site = (select no from ${tables.sites} where tenant = $1 and id = $2)
          offset 0
        ) as content`,
    },
    [storable(tenant), storable(site), ...phrases.map(({ text }) => text)],
  );
  const row = rows[0] ?? {};
  return {
    site: row['site'] ?? null,
    items: row['items'] ?? 0,
    terms: row['terms'] ?? 0,
    hits: row['hits'] ?? 0,
    phrases: names.map((name) => row[name] ?? 0),
  };
}

interface Found {
  readonly database: Queryable;
  readonly tables: HeritageTables;
  readonly site: number;
  readonly phrases: readonly PhrasePattern[];
  readonly query: ContentQuery;
}

/** Ranks by BM25 with credibility and then the newest deciding ties. */
async function weigh({ database, tables, site, phrases, query }: Found, counts: Counts): Promise<Hits> {
  const filter = filterOf(site, phrases, query);
  const expressionAt = filter.values.length + 1;
  const frequencies = phrases.map((_, index) => {
    const inLines = LINE_WEIGHTS.map(
      (weight, line) =>
        `${weight} * regexp_count(split_part(terms, E'\\n', ${line + 1}), $${expressionAt + index})`,
    );
    return `${inLines.join(' + ')} as frequency${index}`;
  });
  const { rows } = await database.query<Record<string, number | null>>(
    {
      name: `heritage_weigh_${phrases.length}`,
      text: `select no, credibility_score, term_count, ${frequencies.join(', ')}
        from ${tables.contents} where ${filter.text}`,
    },
    [...filter.values, ...phrases.map(({ expression }) => expression)],
  );
  const scoreOf = bm25({ items: counts.items, terms: counts.terms, hits: counts.phrases });
  const ranked = rows
    .map((row) => ({
      no: row['no'] ?? 0,
      credibility: row['credibility_score'] ?? Number.NEGATIVE_INFINITY,
      score: scoreOf({
        terms: row['term_count'] ?? 0,
        frequencies: phrases.map((_, index) => row[`frequency${index}`] ?? 0),
      }),
    }))
    .toSorted((a, b) => b.score - a.score || compare(b.credibility, a.credibility) || b.no - a.no);
  return { numbers: ranked.slice(0, query.limit).map(({ no }) => no), total: ranked.length };
}

/** Hits in the title first, then the others, each newest first. */
async function newest({ database, tables, site, phrases, query }: Found): Promise<Hits> {
  const filter = filterOf(site, phrases, query);
  const inTitle = phrases.map((_, index) => `strpos(split_part(terms, E'\\n', 1), $${index + 5}) > 0`);
  const { rows } = await database.query<{ no: number; total: number }>(
    {
      name: `heritage_newest_${phrases.length}`,
      text: `select no, count(*) over () as total from ${tables.contents} where ${filter.text}
        order by ${inTitle.join(' and ')} desc, no desc limit $${filter.values.length + 1}`,
    },
    [...filter.values, query.limit],
  );
  return { numbers: rows.map(({ no }) => no), total: rows[0]?.total ?? 0 };
}

/** The phrases are the parameters from 5 on. */
function filterOf(
  site: number,
  phrases: readonly PhrasePattern[],
  { status, contentType, tags }: ContentQuery,
): { readonly text: string; readonly values: readonly unknown[] } {
  const type = contentType === null ? null : storable(contentType);
  const wanted = tags.length === 0 ? null : tags.map(storable);
  const conditions = [
    'site = $1 and status = $2',
    '($3::text is null or content_type = $3)',
    '($4::text[] is null or tags && $4)',
    ...phrases.map((_, index) => `strpos(terms, $${index + 5}) > 0`),
  ];
  return {
    text: conditions.join(' and '),
    values: [site, storable(status), type, wanted, ...phrases.map(({ text }) => text)],
  };
}

async function itemsOf(
  database: Queryable,
  tables: HeritageTables,
  numbers: readonly number[],
): Promise<ContentItem[]> {
  if (numbers.length === 0) return [];
  const { rows } = await database.query<{ no: number; doc: string }>(
    { name: 'heritage_items', text: `select no, doc from ${tables.contents} where no = any($1::int8[])` },
    [numbers],
  );
  const docs = new Map(rows.map(({ no, doc }) => [no, doc]));
  return numbers.flatMap((no) => {
    const doc = docs.get(no);
    return doc === undefined ? [] : [JSON.parse(doc) as ContentItem];
  });
}

/** Not a difference: that of two infinities is no number. */
function compare(a: number, b: number): number {
  return a === b ? 0 : a < b ? -1 : 1;
}
