import { messageOf } from './failures.ts';
import type { Log } from './ports.ts';

/** Owns background work: logs what fails, and can wait for all of it. */
export class Tasks {
  readonly #log: Log;
  readonly #running: Set<Promise<void>> = new Set();

  constructor(log: Log) {
    this.#log = log;
  }

  start(name: string, work: () => Promise<void>): void {
    const task: Promise<void> = work().then(
      () => void this.#running.delete(task),
      (error: unknown) => {
        this.#running.delete(task);
        this.#log.error('task.failed', { task: name, error: messageOf(error) });
      },
    );
    this.#running.add(task);
  }

  async drain(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }
}
