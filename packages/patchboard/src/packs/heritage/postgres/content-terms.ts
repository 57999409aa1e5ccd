import type { ContentItem } from '../records.ts';
import { indexTerms, phrasesOf } from '../search-terms.ts';

/** What a search in PostgreSQL reads of an item. */
export interface ContentTerms {
  /** Three lines: title, tags and domains, summary and body. In each of them a space is before every term. */
  readonly text: string;
  /** Includes status, type and tags, which count for the length of an item in the index of SQLite. */
  readonly count: number;
}

export function contentTerms({ title, tags, domains, summary, body }: ContentItem): ContentTerms {
  const lines = [title, [...tags, ...domains].join('\n'), `${summary ?? ''}\n${body}`].map((part) =>
    indexTerms(part)
      .split(' ')
      .filter((term) => term !== ''),
  );
  const labels = 2 + tags.length;
  return {
    text: lines.map((terms) => terms.map((term) => ` ${foldAccents(term)}`).join('')).join('\n'),
    count: labels + lines.reduce((sum, terms) => sum + terms.length, 0),
  };
}

/** A phrase as it is in the text of an item. */
export interface PhrasePattern {
  readonly text: string;
  /** A regular expression that matches each occurrence once, also overlapping ones. Terms have no special characters. */
  readonly expression: string;
}

export function phrasePatterns(text: string): PhrasePattern[] {
  return phrasesOf(text).map(({ terms }) => {
    const [first = '', ...others] = terms.map((term) => ` ${foldAccents(term)}`);
    const rest = others.join('');
    return { text: first + rest, expression: rest === '' ? first : `${first}(?=${rest})` };
  });
}

/** As the index of SQLite does: "café" is found by "cafe" and the other way round. */
function foldAccents(term: string): string {
  return term
    .normalize('NFD')
    .replaceAll(/(\p{Script=Latin})\p{Mn}+/gu, '$1')
    .normalize('NFC');
}
