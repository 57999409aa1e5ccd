const BITS = 32;
const QUESTION_MARK = 0x3f;

interface Range {
  readonly from: number;
  readonly end: number;
  /** The character that `?` does not match; null: it matches any. */
  readonly notOne: string | null;
}

/**
 * Returns the first index in the range where a segment of a glob (without `*`) matches; -1 if there is none. Uses the
 * Shift-And algorithm: one bit per prefix of the segment that ends here, so that the time is linear in the text.
 */
export function indexOfSegment(segment: string, text: string, { from, end, notOne }: Range): number {
  if (segment === '') return from;
  const masks = masksOf(segment, notOne);
  const words = masks.any.length;
  const prefixes = new Uint32Array(words);
  const lastBit = (segment.length - 1) % BITS;
  for (let at = from; at < end; at += 1) {
    const mask = masks.of.get(text.charCodeAt(at)) ?? masks.any;
    // The empty prefix matches everywhere.
    let carry = 1;
    for (let word = 0; word < words; word += 1) {
      const before = prefixes[word] ?? 0;
      prefixes[word] = ((before << 1) | carry) & (mask[word] ?? 0);
      carry = before >>> (BITS - 1);
    }
    if ((((prefixes[words - 1] ?? 0) >>> lastBit) & 1) === 1) return at + 1 - segment.length;
  }
  return -1;
}

interface Masks {
  /** By character: the positions of the segment that it matches. */
  readonly of: ReadonlyMap<number, Uint32Array>;
  /** The mask of a character that does not occur in the segment. */
  readonly any: Uint32Array;
}

function masksOf(segment: string, notOne: string | null): Masks {
  const any = new Uint32Array(Math.ceil(segment.length / BITS));
  for (let place = 0; place < segment.length; place += 1)
    if (segment.charCodeAt(place) === QUESTION_MARK) setBit(any, place);
  const of = new Map<number, Uint32Array>();
  if (notOne !== null) of.set(notOne.charCodeAt(0), new Uint32Array(any.length));
  for (let place = 0; place < segment.length; place += 1) {
    const character = segment.charCodeAt(place);
    // A `?` in the text is matched by a `?` only, as any other character that is not in the segment.
    if (character === QUESTION_MARK) continue;
    const mask = of.get(character) ?? any.slice();
    setBit(mask, place);
    of.set(character, mask);
  }
  return { of, any };
}

function setBit(words: Uint32Array, place: number): void {
  const word = Math.floor(place / BITS);
  words[word] = (words[word] ?? 0) | (1 << (place % BITS));
}
