const BITS = 32;
const QUESTION_MARK = 0x3f;

interface Range {
  readonly from: number;
  readonly end: number;
  /** The character that `?` does not match; null: it matches any. */
  readonly notOne: string | null;
}

/**
 * The first place in the range where a segment of a glob, which has no `*`, stands; -1: nowhere. Shift-and: one bit for
 * each prefix of the segment that ends here, so that no character of the text is read twice, whatever is repeated in both.
 */
export function indexOfSegment(segment: string, text: string, { from, end, notOne }: Range): number {
  if (segment === '') return from;
  const masks = masksOf(segment, notOne);
  const words = masks.any.length;
  const prefixes = new Uint32Array(words);
  const lastBit = (segment.length - 1) % BITS;
  for (let at = from; at < end; at += 1) {
    const mask = masks.of.get(text.charCodeAt(at)) ?? masks.any;
    // The empty prefix ends everywhere.
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
  /** By character: at which places of the segment it may stand. */
  readonly of: ReadonlyMap<number, Uint32Array>;
  /** Of a character that the segment does not name. */
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
    // Also a `?` of the text, which only a `?` matches.
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
