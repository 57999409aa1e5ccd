import { messageOf } from './failures.ts';
import type { Log } from './ports.ts';

/** Runs background tasks: logs those that fail, and can wait for all of them. */
export class Tasks {
  readonly #log: Log;
  readonly #running: Set<Promise<void>> = new Set();

  constructor(log: Log) {
    this.#log = log;
  }

  start(name: string, work: () => unknown): void {
    const failed = (error: unknown): void =>
      this.#log.error('task.failed', { task: name, error: messageOf(error) });
    try {
      const working = work();
      if (!(working instanceof Promise)) return;
      const task: Promise<void> = working.catch(failed).then(() => void this.#running.delete(task));
      this.#running.add(task);
    } catch (error) {
      failed(error);
    }
  }

  async drain(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }
}
