/** Larger than the number of requests that any client has open at once. */
const MAX_IDS = 10_000;

/** Ids of recent requests, to deduplicate those that the server sends again. */
export class SeenIds {
  readonly #ids: Set<string> = new Set();

  /** Returns false if the id was added before. */
  add(id: string): boolean {
    if (this.#ids.has(id)) return false;
    this.#ids.add(id);
    const [oldest] = this.#ids;
    if (this.#ids.size > MAX_IDS && oldest !== undefined) this.#ids.delete(oldest);
    return true;
  }
}
