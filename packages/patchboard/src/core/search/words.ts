/** Characters of the arguments that are indexed. */
export const INDEXED_CHARACTERS = 4096;

/** Scripts that are written without spaces. */
const IDEOGRAPH = String.raw`[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]`;
const WORD = new RegExp(
  String.raw`(?=[\p{L}\p{N}])(?:${IDEOGRAPH}|(?:(?!${IDEOGRAPH})[\p{L}\p{N}\p{M}])+)`,
  'gu',
);
const ESCAPE = /\\(?:u([0-9a-f]{4})|[^u])/gi;

/**
 * Splits a text into words: runs of letters and digits, in lower case. Each Chinese, Japanese or Korean character is a word
 * of its own, so that a phrase finds any part of a text that has no spaces. No word contains ASCII punctuation or spaces.
 */
export function wordsOf(text: string): readonly string[] {
  return text.normalize('NFC').toLowerCase().match(WORD) ?? [];
}

/** The words of arguments, which are JSON text that may have been cut; its escapes are no letters. */
export function wordsOfArguments(argsJson: string): readonly string[] {
  const plain = argsJson
    .slice(0, INDEXED_CHARACTERS)
    .replaceAll(ESCAPE, (_, code: string | undefined) =>
      code === undefined ? ' ' : String.fromCharCode(Number.parseInt(code, 16)),
    );
  return wordsOf(plain);
}

/** Whether the phrase occurs in the words: all of its words, one after the other. */
export function containsPhrase(words: readonly string[], phrase: readonly string[]): boolean {
  return words.some((_, start) => phrase.every((word, index) => words[start + index] === word));
}
