/** Where results wait that the server has not acknowledged. Hand one to a device to keep them over a restart of its own. */
export interface OutboxStorage {
  /** What an earlier program left, oldest first. */
  load(): Promise<readonly (readonly [id: string, frame: string])[]> | readonly (readonly [string, string])[];
  put(id: string, frame: string): Promise<void> | void;
  delete(id: string): Promise<void> | void;
}

/** Results on their way. One leaves when the server says what became of it, and not before. */
export class Outbox {
  readonly #storage: OutboxStorage | null;
  readonly #frames: Map<string, string> = new Map();
  readonly #problem: (error: unknown) => void;

  constructor(storage: OutboxStorage | null, problem: (error: unknown) => void) {
    this.#storage = storage;
    this.#problem = problem;
  }

  get size(): number {
    return this.#frames.size;
  }

  async load(): Promise<void> {
    if (this.#storage === null) return;
    for (const [id, frame] of await this.#storage.load()) this.#frames.set(id, frame);
  }

  has(id: string): boolean {
    return this.#frames.has(id);
  }

  get(id: string): string | undefined {
    return this.#frames.get(id);
  }

  ids(): string[] {
    return [...this.#frames.keys()];
  }

  frames(): string[] {
    return [...this.#frames.values()];
  }

  /** Kept first, sent then: what was sent must be there to be sent again. */
  async put(id: string, frame: string): Promise<void> {
    this.#frames.set(id, frame);
    try {
      await this.#storage?.put(id, frame);
    } catch (error) {
      // Still in memory: it is sent all the same, but would not survive the end of this program.
      this.#problem(error);
    }
  }

  async delete(id: string): Promise<void> {
    if (!this.#frames.delete(id)) return;
    try {
      await this.#storage?.delete(id);
    } catch (error) {
      this.#problem(error);
    }
  }
}
