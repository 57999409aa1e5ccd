import { reason, type Reason } from '@patchboard/wire';

/** Up to this many keys are compared one by one, which is faster than a set and copies nothing. */
const COMPARED = 12;

/** The keys seen so far in every open object of a text. Arrays count towards the depth, and have no keys. */
export class KeyStack {
  readonly #text: string;
  /** Start and end of each key in the text, in use up to `#used`. */
  readonly #spans: number[] = [];
  #used = 0;
  #depth = 0;
  /** For each depth, the index of its first span. Entries above `#depth` are stale, as in `#spans`. */
  readonly #bases: number[] = [0];
  /** Replaces the spans of a depth that has many keys or keys with escapes. */
  #names: Map<number, Set<string>> | null = null;
  /** Depths of the values of a key `constructor`. */
  #constructors: Set<number> | null = null;
  /** Whether the newest key is `constructor`, so that the next container is its value. */
  #isConstructor = false;

  constructor(text: string) {
    this.#text = text;
  }

  open(depth: number): void {
    this.#depth = depth;
    this.#bases[depth] = this.#used;
    if (!this.#isConstructor) return;
    this.#constructors = (this.#constructors ?? new Set()).add(depth);
    this.#isConstructor = false;
  }

  close(depth: number): void {
    this.#depth = depth - 1;
    this.#used = this.#bases[depth] ?? 0;
    this.#isConstructor = false;
    if (this.#names !== null) this.#names.delete(depth);
    if (this.#constructors !== null) this.#constructors.delete(depth);
  }

  /** Adds the key between two quotes. Returns a reason if the key is refused, else null. */
  add(start: number, end: number, isPlain: boolean): Reason | null {
    const base = this.#bases[this.#depth] ?? 0;
    const spans = this.#spans;
    const used = this.#used;
    const isNamed = this.#names !== null && this.#names.has(this.#depth);
    if (!isPlain || isNamed || used - base >= 2 * COMPARED) return this.#addName(start, end, isPlain);
    for (let place = base; place < used; place += 2) {
      const other = spans[place] ?? 0;
      if ((spans[place + 1] ?? 0) - other === end - start && this.#sameText(other, start, end)) {
        return duplicate(this.#text.slice(start, end));
      }
    }
    spans[used] = start;
    spans[used + 1] = end;
    this.#used = used + 2;
    this.#isConstructor = false;
    const length = end - start;
    // The lengths of the forbidden keys; only keys of these lengths are sliced and checked.
    return length === 9 || length === 11 ? this.#check(this.#text.slice(start, end)) : null;
  }

  /** Decodes escapes: two spellings of one key, such as `a` and `\u0061`, are the same name. */
  #addName(start: number, end: number, isPlain: boolean): Reason | null {
    const raw = this.#text.slice(start, end);
    const name = isPlain ? raw : (JSON.parse(`"${raw}"`) as string);
    const names = this.#names?.get(this.#depth) ?? this.#collect();
    const before = names.size;
    if (names.add(name).size === before) return duplicate(name);
    return this.#check(name);
  }

  #collect(): Set<string> {
    const names = new Set<string>();
    for (let place = this.#bases[this.#depth] ?? 0; place < this.#used; place += 2) {
      names.add(this.#text.slice(this.#spans[place], this.#spans[place + 1]));
    }
    this.#names = (this.#names ?? new Map()).set(this.#depth, names);
    return names;
  }

  #check(name: string): Reason | null {
    this.#isConstructor = name === 'constructor';
    if (name === '__proto__') return reason('json_key_forbidden', { key: name });
    if (name === 'prototype' && this.#constructors?.has(this.#depth) === true) {
      return reason('json_prototype_forbidden');
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

/** Characters of a key in a message: enough to find the key, and bounded. */
const SHOWN = 60;

function duplicate(name: string): Reason {
  const shown = name.length > SHOWN ? `${name.slice(0, SHOWN)}…` : name;
  return reason('json_key_twice', { key: JSON.stringify(shown) });
}
