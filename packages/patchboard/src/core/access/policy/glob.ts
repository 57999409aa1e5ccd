/** `*` is any run of characters, `?` one character; everything else is itself. Linear in practice, never exponential. */
export function matchesGlob(pattern: string, text: string): boolean {
  return matches(pattern, text, isOneCharacter);
}

export function hasWildcard(pattern: string): boolean {
  return pattern.includes('*') || pattern.includes('?');
}

/** Whether `general` matches every text that `specific` matches. It may return false where a proof takes more than a comparison. */
export function coversGlob(general: string, specific: string): boolean {
  return matches(general, specific, isNoStar);
}

const isOneCharacter = (): boolean => true;
/** A `*` of the specific pattern stands for any number of characters, so that only a `*` covers it. */
const isNoStar = (character: string | undefined): boolean => character !== '*';

function matches(
  pattern: string,
  text: string,
  mayBeOne: (character: string | undefined) => boolean,
): boolean {
  let p = 0;
  let t = 0;
  let star = -1;
  let resume = 0;
  while (t < text.length) {
    if (p < pattern.length && pattern[p] === '*') {
      star = p++;
      resume = t;
    } else if (p < pattern.length && (pattern[p] === '?' ? mayBeOne(text[t]) : pattern[p] === text[t])) {
      p += 1;
      t += 1;
    } else if (star !== -1) {
      // The last star takes one character more, and the rest is tried again from there.
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (pattern[p] === '*') p += 1;
  return p === pattern.length;
}
