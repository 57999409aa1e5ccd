/**
 * Returns one string for all names that differ only in case, dots or underscores, which a person or a model easily
 * confuses. Between two digits a separator counts: `cell_1_12` is not `cell_11_2`.
 */
function foldedName(name: string): string {
  return name.toLowerCase().replaceAll(/[._]+/g, (run: string, at: number, whole: string) => {
    return isDigit(whole[at - 1]) && isDigit(whole[at + run.length]) ? '_' : '';
  });
}

/** Index of names by their folded form. */
export class SimilarNames {
  readonly #names: Map<string, Set<string>> = new Map();

  add(name: string): void {
    const folded = foldedName(name);
    const names = this.#names.get(folded);
    if (names === undefined) this.#names.set(folded, new Set([name]));
    else names.add(name);
  }

  remove(name: string): void {
    const folded = foldedName(name);
    const names = this.#names.get(folded);
    if (names?.delete(name) === true && names.size === 0) this.#names.delete(folded);
  }

  /** Returns a different name with the same folded form; undefined if there is none. */
  similarTo(name: string): string | undefined {
    for (const other of this.#names.get(foldedName(name)) ?? []) if (other !== name) return other;
    return undefined;
  }
}

function isDigit(character: string | undefined): boolean {
  return character !== undefined && character >= '0' && character <= '9';
}
