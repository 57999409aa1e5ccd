/** A place, empty if there is none, or the words for another time. */
export type Found = { readonly place: string } | { readonly words: string };

/** Removes the patterns from the text repeatedly until none matches. */
export function stripAffixes(text: string, ...patterns: readonly RegExp[]): string {
  let rest = text;
  for (;;) {
    const before = rest;
    for (const pattern of patterns) rest = rest.replace(pattern, '');
    if (rest === before) return rest;
  }
}
