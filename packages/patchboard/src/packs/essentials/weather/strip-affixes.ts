/** What the reader of one language found; an empty place is none. */
export type Found = { readonly place: string } | { readonly words: string };

/** Takes the patterns off the text again and again until nothing more comes off. */
export function stripAffixes(text: string, ...patterns: readonly RegExp[]): string {
  let rest = text;
  for (;;) {
    const before = rest;
    for (const pattern of patterns) rest = rest.replace(pattern, '');
    if (rest === before) return rest;
  }
}
