import type { ActiveWork } from '../active-work.ts';

/** Mutex for the turns of an agent: one runs at a time, others wait in order. */
export class Turns {
  readonly #activeWork: ActiveWork;
  /** One for each turn that is running or waiting. */
  readonly #interrupts: Set<AbortController> = new Set();
  #last: Promise<unknown> = Promise.resolve();

  constructor(activeWork: ActiveWork) {
    this.#activeWork = activeWork;
  }

  /** Runs `work` in its turn. Its signal is aborted by the caller's signal and by `interrupt`. */
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

  /** Aborts all running and waiting turns, and resolves when they have ended. */
  async interrupt(): Promise<void> {
    for (const turn of this.#interrupts) turn.abort();
    await this.#last;
  }
}
