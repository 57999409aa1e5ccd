import { closerOf, OPENER_SIGN, REQUEST_END, REQUEST_START } from '@patchboard/wire/vcp';

/**
 * Where something occurs next in a text. Remembers what it found, so that asking from ever later places reads the
 * text once in all, however often it is asked and whether or not there is anything to find.
 */
export class Finder {
  readonly #text: string;
  readonly #wanted: string;
  #at = -1;

  constructor(text: string, wanted: string) {
    this.#text = text;
    this.#wanted = wanted;
  }

  /** `Infinity`: not there any more. `from` never decreases. */
  next(from: number): number {
    if (this.#at >= from) return this.#at;
    const found = this.#text.indexOf(this.#wanted, from);
    this.#at = found === -1 ? Infinity : found;
    return this.#at;
  }
}

const PLAIN_CLOSER = closerOf('');

/** Finders for everything the grammar looks for in one text, made when first asked for: a short piece needs few. */
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

/** The first place from `from` on where the text may end within one of the markers; its length if nowhere. */
export function cutMarker(text: string, from: number, markers: readonly string[]): number {
  let longest = 0;
  for (const marker of markers) longest = Math.max(longest, marker.length);
  for (let at = Math.max(from, text.length - longest + 1); at < text.length; at += 1) {
    const rest = text.slice(at);
    if (markers.some((marker) => marker.startsWith(rest))) return at;
  }
  return text.length;
}

/** The same for markers that a pattern describes: `half` matches what may go on to one, `longest` bounds its length. */
export function cutPattern(text: string, from: number, half: RegExp, longest: number): number {
  for (let at = Math.max(from, text.length - longest + 1); at < text.length; at += 1)
    if (half.test(text.slice(at))) return at;
  return text.length;
}
