/** More requests than any client has open at once. */
const REMEMBERED = 10_000;

/** Ids of the last requests: a server that is not sure sends again, and nothing is to run twice. */
export class SeenIds {
  readonly #ids: Set<string> = new Set();

  /** False: it came before. */
  add(id: string): boolean {
    if (this.#ids.has(id)) return false;
    this.#ids.add(id);
    const [oldest] = this.#ids;
    if (this.#ids.size > REMEMBERED && oldest !== undefined) this.#ids.delete(oldest);
    return true;
  }
}
