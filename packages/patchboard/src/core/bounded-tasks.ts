/** Runs tasks at the same time, at most `max` of them. */
export class BoundedTasks {
  readonly #max: number;
  #running = 0;
  /** Resolves when the next task has ended. */
  #ended: Promise<void> | null = null;
  #tellEnded: () => void = () => {};

  constructor(max: number) {
    this.#max = max;
  }

  /** Resolves when the task has begun. `task` must not reject. */
  async start(task: () => Promise<void>): Promise<void> {
    while (this.#running >= this.#max) await this.#next();
    this.#running += 1;
    task().then(
      () => this.#end(),
      () => this.#end(),
    );
  }

  /** Resolves when all tasks have ended. */
  async idle(): Promise<void> {
    while (this.#running > 0) await this.#next();
  }

  #next(): Promise<void> {
    this.#ended ??= new Promise((resolve) => {
      this.#tellEnded = resolve;
    });
    return this.#ended;
  }

  #end(): void {
    this.#running -= 1;
    this.#ended = null;
    this.#tellEnded();
  }
}
