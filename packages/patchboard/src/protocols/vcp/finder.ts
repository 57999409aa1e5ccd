import { closerOf, OPENER_SIGN, REQUEST_END, REQUEST_START } from '@patchboard/wire/vcp';

/**
 * Finds the next occurrence of a string in a text. Caches the last match, so that searches from increasing indexes scan
 * the text once in total, whether or not there is a match.
 */
export class Finder {
  readonly #text: string;
  readonly #wanted: string;
  #at = -1;

  constructor(text: string, wanted: string) {
    this.#text = text;
    this.#wanted = wanted;
  }

  /** Returns `Infinity` if there is no match. `from` must not decrease. */
  next(from: number): number {
    if (this.#at >= from) return this.#at;
    const found = this.#text.indexOf(this.#wanted, from);
    this.#at = found === -1 ? Infinity : found;
    return this.#at;
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
