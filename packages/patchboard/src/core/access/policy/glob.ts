import { indexOfSegment } from './glob-search.ts';

/** Up to this many steps the backtracking comparison is faster than building the tables of the segment search. */
const PLAIN_STEPS = 4096;

/** `*` matches any run of characters, `?` one character; other characters match themselves. Linear time in the text. */
export function matchesGlob(pattern: string, text: string): boolean {
  return matches(pattern, text, null);
}

export function hasWildcard(pattern: string): boolean {
  return pattern.includes('*') || pattern.includes('?');
}

/** Whether `general` matches every text that `specific` matches. May return false in cases that need a deeper proof. */
export function coversGlob(general: string, specific: string): boolean {
  // A `*` of the specific pattern matches any number of characters, so only a `*` covers it.
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
      // Backtrack: the last star takes one more character.
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (pattern[p] === '*') p += 1;
  return p === pattern.length;
}

/** Searches the segments between the stars from left to right. Taking the first match of each is optimal. */
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
