/** Persistent storage for unacknowledged results. Pass one to a device to keep them across a restart. */
export interface OutboxStorage {
  /** Returns the results that an earlier process stored, oldest first. */
  load(): Promise<readonly (readonly [id: string, frame: string])[]> | readonly (readonly [string, string])[];
  put(id: string, frame: string): Promise<void> | void;
  delete(id: string): Promise<void> | void;
}

/** Unacknowledged results. A result is removed only when the server has acknowledged or refused it. */
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

  /** Must be called before the frame is sent, so that a sent frame can always be sent again. */
  async put(id: string, frame: string): Promise<void> {
    this.#frames.set(id, frame);
    try {
      await this.#storage?.put(id, frame);
    } catch (error) {
      // The frame is still in memory and is sent, but would not survive the end of this process.
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
