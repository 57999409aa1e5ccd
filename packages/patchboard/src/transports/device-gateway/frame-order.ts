/** Runs the work of frames one after the other, each at once if none is running. */
export class FrameOrder {
  #last: Promise<void> | null = null;

  /** Resolves or rejects as the work does. Work that fails does not stop the following one. */
  next(work: () => Promise<void>): Promise<void> {
    const turn = this.#last === null ? work() : this.#last.then(work);
    const over: Promise<void> = turn.then(
      () => this.#ended(over),
      () => this.#ended(over),
    );
    this.#last = over;
    return turn;
  }

  /** Resolves when the work that was added before has ended. Null: there is none. */
  get running(): Promise<void> | null {
    return this.#last;
  }

  #ended(turn: Promise<void>): void {
    if (this.#last === turn) this.#last = null;
  }
}
