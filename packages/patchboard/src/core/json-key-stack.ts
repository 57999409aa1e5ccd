/** Up to so many keys are compared one by one, which is faster than a set and copies nothing. */
const COMPARED = 12;

/** The keys seen so far in every open object of a text. Arrays are opened here too, and have none. */
export class KeyStack {
  readonly #text: string;
  /** Start and end of each key in the text; each container's begin where its entry in `#bases` says. */
  readonly #spans: number[] = [];
  readonly #bases: number[] = [];
  /** Takes over from the spans, per depth, when keys are many or have escapes in them. */
  readonly #names: (Set<string> | null)[] = [];
  /** Depths of the open containers that stand under a key `constructor`. */
  readonly #constructors: number[] = [];
  /** Whether the newest key is `constructor`, and so what opens next stands under it. */
  #isConstructor = false;

  constructor(text: string) {
    this.#text = text;
  }

  open(): void {
    if (this.#isConstructor) this.#constructors.push(this.#bases.length);
    this.#isConstructor = false;
    this.#bases.push(this.#spans.length);
  }

  close(): void {
    const base = this.#bases.pop() ?? 0;
    const depth = this.#bases.length;
    this.#isConstructor = false;
    while (this.#spans.length > base) this.#spans.pop();
    if (this.#names.length > depth) this.#names.length = depth;
    if (this.#constructors.length > 0 && this.#constructors.at(-1) === depth) this.#constructors.pop();
  }

  /** Takes the key between two quotes; answers what is wrong with it, if anything. */
  add(start: number, end: number, hasEscapes: boolean): string | null {
    const depth = this.#bases.length - 1;
    const base = this.#bases[depth] ?? 0;
    const spans = this.#spans;
    const isNamed = this.#names.length > depth && this.#names[depth] !== null;
    if (hasEscapes || isNamed || spans.length - base >= 2 * COMPARED) {
      return this.#addName(depth, start, end, hasEscapes);
    }
    for (let place = base; place < spans.length; place += 2) {
      const other = spans[place] ?? 0;
      if ((spans[place + 1] ?? 0) - other === end - start && this.#sameText(other, start, end)) {
        return duplicate(this.#text.slice(start, end));
      }
    }
    spans.push(start, end);
    this.#isConstructor = false;
    const length = end - start;
    // The only lengths that matter; a key is cut out of the text only when it might.
    return length === 9 || length === 11 ? this.#check(this.#text.slice(start, end)) : null;
  }

  /** Two spellings of one key, such as `a` and `\u0061`, are the same name. */
  #addName(depth: number, start: number, end: number, hasEscapes: boolean): string | null {
    const raw = this.#text.slice(start, end);
    const name = hasEscapes ? (JSON.parse(`"${raw}"`) as string) : raw;
    const names = this.#names[depth] ?? this.#collect(depth);
    const before = names.size;
    if (names.add(name).size === before) return duplicate(name);
    return this.#check(name);
  }

  #collect(depth: number): Set<string> {
    const names = new Set<string>();
    for (let place = this.#bases[depth] ?? 0; place < this.#spans.length; place += 2) {
      names.add(this.#text.slice(this.#spans[place], this.#spans[place + 1]));
    }
    while (this.#names.length < depth) this.#names.push(null);
    this.#names[depth] = names;
    return names;
  }

  #check(name: string): string | null {
    this.#isConstructor = name === 'constructor';
    if (name === '__proto__') return 'the key "__proto__" is not allowed';
    if (name === 'prototype' && this.#constructors.at(-1) === this.#bases.length - 1) {
      return 'the key "prototype" under "constructor" is not allowed';
    }
    return null;
  }

  #sameText(other: number, start: number, end: number): boolean {
    const text = this.#text;
    for (let place = start; place < end; place += 1) {
      if (text.charCodeAt(place) !== text.charCodeAt(other + place - start)) return false;
    }
    return true;
  }
}

/** Long enough to find the key by, short enough for an answer. */
const SHOWN = 60;

function duplicate(name: string): string {
  const shown = name.length > SHOWN ? `${name.slice(0, SHOWN)}…` : name;
  return `the key ${JSON.stringify(shown)} appears twice in one object`;
}
