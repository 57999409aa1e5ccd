import type { Clock } from '../../../core/ports.ts';
import type { Principal } from '../../../core/access/principal.ts';

interface OpenStream {
  readonly end: () => void;
  readonly credentialId: string | null;
  /** Cancels the timer for the credential's expiry. */
  readonly disarm: () => void;
}

/** Near the maximum of a timer, 23 days. An expiry that is farther away is waited for in steps. */
const FAR_MS = 2_000_000_000;

/**
 * The open streams and long polls. A closing server ends them first, because they would delay the close without bound.
 * Each ends when the credential that opened it expires or is revoked.
 */
export class OpenStreams {
  readonly #clock: Clock;
  readonly #open: Set<OpenStream> = new Set();
  #isClosing = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get size(): number {
    return this.#open.size;
  }

  get isClosing(): boolean {
    return this.#isClosing;
  }

  /** `end` is called at most once, and immediately if the server is closing. Returns a function that removes the stream. */
  add(end: () => void, principal: Principal): () => void {
    if (this.#isClosing) {
      end();
      return () => undefined;
    }
    const { credential } = principal;
    const stream: OpenStream = {
      end,
      credentialId: credential?.id ?? null,
      disarm: this.#endAt(credential?.expiresAt ?? null, () => this.#finish(stream)),
    };
    this.#open.add(stream);
    return () => {
      stream.disarm();
      this.#open.delete(stream);
    };
  }

  endAll(): void {
    this.#isClosing = true;
    for (const stream of this.#open) this.#finish(stream);
  }

  /** Ends the streams of a credential that is no longer valid; null: those opened without a credential. */
  endOf(credentialId: string | null): void {
    for (const stream of this.#open) {
      if (stream.credentialId === credentialId) this.#finish(stream);
    }
  }

  #finish(stream: OpenStream): void {
    stream.disarm();
    if (this.#open.delete(stream)) stream.end();
  }

  #endAt(expiresAt: number | null, end: () => void): () => void {
    if (expiresAt === null) return () => undefined;
    let disarm = (): void => {};
    const arm = (): void => {
      const leftMs = Math.max(0, expiresAt - this.#clock.now());
      disarm = leftMs > FAR_MS ? this.#clock.after(FAR_MS, arm) : this.#clock.after(leftMs, end);
    };
    arm();
    return () => disarm();
  }
}
