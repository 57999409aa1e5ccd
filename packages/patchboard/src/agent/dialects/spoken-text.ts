import type { Clock } from '../../core/ports.ts';

/** Often enough for whoever reads along. */
const PAUSE_MS = 25;

/**
 * A model speaks faster than every piece of it could be put on disk. The first piece is told at once, and what comes in
 * the moment after it is told as one.
 */
export class SpokenText {
  readonly #clock: Clock;
  readonly #tell: (text: string) => void;
  #waiting = '';
  #callOff: (() => void) | null = null;

  constructor(clock: Clock, tell: (text: string) => void) {
    this.#clock = clock;
    this.#tell = tell;
  }

  add(delta: string): void {
    this.#waiting += delta;
    if (this.#callOff === null) this.#tellNow();
  }

  /** Whatever is told next comes after it. */
  end(): void {
    this.#callOff?.();
    this.#callOff = null;
    if (this.#waiting !== '') this.#tell(this.#waiting);
    this.#waiting = '';
  }

  #tellNow(): void {
    this.#callOff = null;
    if (this.#waiting === '') return;
    this.#tell(this.#waiting);
    this.#waiting = '';
    this.#callOff = this.#clock.after(PAUSE_MS, () => this.#tellNow());
  }
}
