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
