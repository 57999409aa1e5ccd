import type { ActiveWork } from '../active-work.ts';

/** One turn of an agent at a time; whoever comes meanwhile waits. */
export class Turns {
  readonly #activeWork: ActiveWork;
  /** One for each turn that has not ended, also for those that have not begun. */
  readonly #interrupts: Set<AbortController> = new Set();
  #last: Promise<unknown> = Promise.resolve();

  constructor(activeWork: ActiveWork) {
    this.#activeWork = activeWork;
  }

  /** `work` is told when either its caller or `interrupt` wants it to stop. */
  async take<T>(caller: AbortSignal | undefined, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const own = new AbortController();
    this.#interrupts.add(own);
    const signal = caller === undefined ? own.signal : AbortSignal.any([own.signal, caller]);
    const turn = this.#last.then(() => this.#activeWork.run(() => work(signal)));
    this.#last = turn.catch(() => {});
    try {
      return await turn;
    } finally {
      this.#interrupts.delete(own);
    }
  }

  /** Stops all that there are, and resolves when they have stopped. */
  async interrupt(): Promise<void> {
    for (const turn of this.#interrupts) turn.abort();
    await this.#last;
  }
}
