/** Parameters of BM25, as in FTS5 of SQLite. */
const K1 = 1.2;
const B = 0.75;
/** The inverse document frequency of a phrase that is in more than half of all items. */
const SMALLEST_IDF = 1e-6;

export interface Corpus {
  readonly items: number;
  readonly terms: number;
  /** For each phrase, the number of items that contain it. */
  readonly hits: readonly number[];
}

export interface WeighedItem {
  readonly terms: number;
  /** For each phrase, the number of its occurrences, weighed by column. */
  readonly frequencies: readonly number[];
}

/** Returns a function that scores an item; a higher score is better. The same formula as that of `bm25()` in FTS5. */
export function bm25({ items, terms, hits }: Corpus): (item: WeighedItem) => number {
  const averageLength = terms / items;
  const weights = hits.map((count) => {
    const idf = Math.log((items - count + 0.5) / (count + 0.5));
    return idf <= 0 ? SMALLEST_IDF : idf;
  });
  return ({ terms: length, frequencies }) =>
    frequencies.reduce((score, frequency, index) => {
      const saturation = K1 * (1 - B + (B * length) / averageLength);
      return score + (weights[index] ?? 0) * ((frequency * (K1 + 1)) / (frequency + saturation));
    }, 0);
}
