import type { Clock } from '../../../core/ports.ts';
import type { Principal } from '../../../core/access/principal.ts';

interface Opening {
  readonly end: () => void;
  readonly credentialId: string | null;
  /** Calls off the end that comes with the credential's expiry. */
  readonly disarm: () => void;
}

/** About as long as a timer can be set for, 23 days. What is open by then ends too, and whoever reads it comes back. */
const FAR_MS = 2_000_000_000;

/**
 * Streams and waits that are open. A closing server ends them first, since they would hold it open for as long as
 * they please; and each ends with the credential that opened it.
 */
export class OpenStreams {
  readonly #clock: Clock;
  readonly #open: Set<Opening> = new Set();
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

  /** `end` is called at most once, and at once if the server is closing already; the answer takes it back. */
  add(end: () => void, principal: Principal): () => void {
    if (this.#isClosing) {
      end();
      return () => undefined;
    }
    const { credential } = principal;
    const opening: Opening = {
      end,
      credentialId: credential?.id ?? null,
      disarm: this.#endAt(credential?.expiresAt ?? null, () => this.#finish(opening)),
    };
    this.#open.add(opening);
    return () => {
      opening.disarm();
      this.#open.delete(opening);
    };
  }

  endAll(): void {
    this.#isClosing = true;
    for (const opening of this.#open) this.#finish(opening);
  }

  /** The credential is no longer good; null: nobody may come without one any more. */
  endOf(credentialId: string | null): void {
    for (const opening of this.#open) {
      if (opening.credentialId === credentialId) this.#finish(opening);
    }
  }

  #finish(opening: Opening): void {
    opening.disarm();
    if (this.#open.delete(opening)) opening.end();
  }

  #endAt(expiresAt: number | null, end: () => void): () => void {
    if (expiresAt === null) return () => undefined;
    return this.#clock.after(Math.min(FAR_MS, Math.max(0, expiresAt - this.#clock.now())), end);
  }
}
