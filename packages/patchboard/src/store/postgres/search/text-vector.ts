/** A longer word is cut, in texts and in queries: PostgreSQL takes words of up to 2046 bytes. */
const WORD_CHARACTERS = 500;

/**
 * Writes words as text of a `tsvector`, so that PostgreSQL splits nothing. Words contain neither ASCII punctuation nor spaces.
 * PostgreSQL keeps the first 255 places of a word.
 */
export function vectorOf(words: readonly string[]): string {
  let text = '';
  let place = 0;
  for (const word of words) {
    place += 1;
    text += `'${cut(word)}':${place} `;
  }
  return text;
}

/** Writes phrases as text of a `tsquery` that matches if a vector contains all of them. */
export function phrasesQuery(phrases: readonly (readonly string[])[]): string {
  return phrases.map((words) => `(${words.map((word) => `'${cut(word)}'`).join(' <-> ')})`).join(' & ');
}

function cut(word: string): string {
  return word.length > WORD_CHARACTERS ? word.slice(0, WORD_CHARACTERS) : word;
}
