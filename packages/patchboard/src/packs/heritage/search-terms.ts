/** Scripts without spaces between words; these are indexed by pairs of characters. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Bopomofo}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
const IN_WORD = /[\p{L}\p{N}\p{M}]/u;

/** A unit of search: a sequence of characters of a script without spaces, or a word. */
export type Stretch =
  | { readonly kind: 'characters'; readonly characters: readonly string[] }
  | { readonly kind: 'word'; readonly word: string };

/** Normalises width, compatibility forms and case. Characters other than letters and numbers are separators. */
export function stretchesOf(text: string): Stretch[] {
  const stretches: Stretch[] = [];
  let characters: string[] = [];
  let word = '';
  const endCharacters = (): void => {
    if (characters.length > 0) stretches.push({ kind: 'characters', characters });
    characters = [];
  };
  const endWord = (): void => {
    if (word !== '') stretches.push({ kind: 'word', word });
    word = '';
  };
  for (const character of text.normalize('NFKC').toLowerCase()) {
    if (UNSPACED.test(character)) {
      endWord();
      characters.push(character);
    } else if (IN_WORD.test(character)) {
      endCharacters();
      word += character;
    } else {
      endCharacters();
      endWord();
    }
  }
  endCharacters();
  endWord();
  return stretches;
}

/**
 * Converts the text to terms for an index that splits at spaces. 严氏家训 becomes 严氏 氏家 家训 训: all pairs, and the last
 * character alone, so that every character starts a term. The last one also separates two adjacent sequences.
 */
export function indexTerms(text: string): string {
  return stretchesOf(text)
    .flatMap((stretch) =>
      stretch.kind === 'word' ? [stretch.word] : [...pairsOf(stretch.characters), stretch.characters.at(-1)],
    )
    .join(' ');
}

/** A unit of a search: consecutive terms of an index. */
export interface Phrase {
  readonly terms: readonly string[];
  /** Whether the last term is only the beginning of one. */
  readonly isPrefix: boolean;
}

/** A single character and a word match as the prefix of a term, several characters as consecutive pairs. */
export function phrasesOf(text: string): Phrase[] {
  return stretchesOf(text).map((stretch) => {
    if (stretch.kind === 'word') return { terms: [stretch.word], isPrefix: true };
    const { characters } = stretch;
    return characters.length === 1
      ? { terms: characters, isPrefix: true }
      : { terms: pairsOf(characters), isPrefix: false };
  });
}

/** Returns the FTS5 query that matches all units of the text; null if the text has none. */
export function matchExpression(text: string): string | null {
  const parts = phrasesOf(text).map(({ terms, isPrefix }) => `"${terms.join(' ')}"${isPrefix ? ' *' : ''}`);
  return parts.length === 0 ? null : parts.join(' AND ');
}

function pairsOf(characters: readonly string[]): string[] {
  return characters.slice(1).map((character, index) => `${characters[index]}${character}`);
}
