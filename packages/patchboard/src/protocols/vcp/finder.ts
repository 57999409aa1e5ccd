import { closerOf, OPENER_SIGN, REQUEST_END, REQUEST_START } from '@patchboard/wire/vcp';

/** A search with a limit reads at least so many characters, so that limits close to each other cost one search. */
const LEAST_SEARCHED = 4096;

/**
 * Finds the next occurrence of a string in a text. Caches the last match, so that searches from increasing indexes scan
 * the text once in total, whether or not there is a match.
 */
export class Finder {
  readonly #text: string;
  readonly #wanted: string;
  #at = -1;
  /** No match begins between the last `from` and here. */
  #searched = 0;

  constructor(text: string, wanted: string) {
    this.#text = text;
    this.#wanted = wanted;
  }

  /**
   * Returns `Infinity` if there is no match. `from` must not decrease.
   * `limit`, for single characters: a match from there on is not needed. Searches for several characters that stop at the
   * same limit find the text in the processor's cache.
   */
  next(from: number, limit: number = Infinity): number {
    if (this.#at >= from) return this.#at;
    const begin = Math.max(from, this.#searched);
    if (begin >= limit) return Infinity;
    const end = Math.max(limit, begin + LEAST_SEARCHED);
    const part = end < this.#text.length ? this.#text.slice(0, end) : this.#text;
    const found = part.indexOf(this.#wanted, begin);
    if (found !== -1) this.#at = found;
    else if (part === this.#text) this.#at = Infinity;
    else this.#searched = end;
    return found === -1 ? Infinity : found;
  }
}

const PLAIN_CLOSER = closerOf('');

/** The finders for all marks of the grammar in one text, created on first use: a short piece needs few. */
export class Finders {
  readonly #text: string;
  #lessThan: Finder | null = null;
  #tick: Finder | null = null;
  #tilde: Finder | null = null;
  #newline: Finder | null = null;
  #start: Finder | null = null;
  #end: Finder | null = null;
  #openerSign: Finder | null = null;
  #plainCloser: Finder | null = null;

  constructor(text: string) {
    this.#text = text;
  }

  get lessThan(): Finder {
    return (this.#lessThan ??= new Finder(this.#text, '<'));
  }

  get tick(): Finder {
    return (this.#tick ??= new Finder(this.#text, '`'));
  }

  get tilde(): Finder {
    return (this.#tilde ??= new Finder(this.#text, '~'));
  }

  get newline(): Finder {
    return (this.#newline ??= new Finder(this.#text, '\n'));
  }

  get start(): Finder {
    return (this.#start ??= new Finder(this.#text, REQUEST_START));
  }

  get end(): Finder {
    return (this.#end ??= new Finder(this.#text, REQUEST_END));
  }

  get openerSign(): Finder {
    return (this.#openerSign ??= new Finder(this.#text, OPENER_SIGN));
  }

  get plainCloser(): Finder {
    return (this.#plainCloser ??= new Finder(this.#text, PLAIN_CLOSER));
  }
}

/** The first index from `from` on where the text may end within one of the markers; its length if there is none. */
export function cutMarker(text: string, from: number, markers: readonly string[]): number {
  let longest = 0;
  for (const marker of markers) longest = Math.max(longest, marker.length);
  for (let at = Math.max(from, text.length - longest + 1); at < text.length; at += 1) {
    const rest = text.slice(at);
    if (markers.some((marker) => marker.startsWith(rest))) return at;
  }
  return text.length;
}

/** As `cutMarker`, for markers given by a pattern: `half` matches a prefix of a marker, `longest` bounds its length. */
export function cutPattern(text: string, from: number, half: RegExp, longest: number): number {
  for (let at = Math.max(from, text.length - longest + 1); at < text.length; at += 1)
    if (half.test(text.slice(at))) return at;
  return text.length;
}
