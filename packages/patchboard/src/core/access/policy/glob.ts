import { indexOfSegment } from './glob-search.ts';

/** Up to this many steps the plain comparison is faster than the tables of the search. */
const PLAIN_STEPS = 4096;

/** `*` is any run of characters, `?` one character; everything else is itself. The time is linear in the text. */
export function matchesGlob(pattern: string, text: string): boolean {
  return matches(pattern, text, null);
}

export function hasWildcard(pattern: string): boolean {
  return pattern.includes('*') || pattern.includes('?');
}

/** Whether `general` matches every text that `specific` matches. It may return false where a proof takes more than a comparison. */
export function coversGlob(general: string, specific: string): boolean {
  // A `*` of the specific pattern stands for any number of characters, so that only a `*` covers it.
  return matches(general, specific, '*');
}

/** `notOne`: the character that `?` does not match; null: it matches any. */
function matches(pattern: string, text: string, notOne: string | null): boolean {
  return pattern.length * text.length <= PLAIN_STEPS
    ? matchesPlainly(pattern, text, notOne)
    : matchesBySegments(pattern, text, notOne);
}

function matchesPlainly(pattern: string, text: string, notOne: string | null): boolean {
  let p = 0;
  let t = 0;
  let star = -1;
  let resume = 0;
  while (t < text.length) {
    if (p < pattern.length && pattern[p] === '*') {
      star = p++;
      resume = t;
    } else if (p < pattern.length && (pattern[p] === '?' ? text[t] !== notOne : pattern[p] === text[t])) {
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

/** What stands between the stars is searched from left to right: the first place of each leaves the most for the others. */
function matchesBySegments(pattern: string, text: string, notOne: string | null): boolean {
  const segments = pattern.split('*');
  const first = segments.shift() ?? '';
  const last = segments.pop();
  if (last === undefined) return first.length === text.length && matchesPlainly(first, text, notOne);
  let at = first.length;
  const end = text.length - last.length;
  if (at > end) return false;
  if (!matchesPlainly(first, text.slice(0, at), notOne)) return false;
  if (!matchesPlainly(last, text.slice(end), notOne)) return false;
  for (const segment of segments) {
    const found = indexOfSegment(segment, text, { from: at, end, notOne });
    if (found === -1) return false;
    at = found + segment.length;
  }
  return true;
}
