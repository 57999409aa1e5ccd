export interface OneTimeTokensParts {
  /** Maximum number of unspent tokens; beyond it the oldest are discarded. */
  readonly capacity: number;
  readonly lifetimeMs: number;
  /** The clock for expiry, in milliseconds. */
  readonly now: () => number;
}

/** Secrets that can be spent once, before they expire. */
export class OneTimeTokens<Value> {
  readonly #parts: OneTimeTokensParts;
  readonly #tokens: Map<string, { readonly value: Value; readonly expiresAt: number }> = new Map();

  constructor(parts: OneTimeTokensParts) {
    this.#parts = parts;
  }

  add(token: string, value: Value): void {
    const { capacity, lifetimeMs } = this.#parts;
    const now = this.#parts.now();
    for (const [old, { expiresAt }] of this.#tokens) {
      if (expiresAt > now && this.#tokens.size < capacity) break;
      this.#tokens.delete(old);
    }
    this.#tokens.set(token, { value, expiresAt: now + lifetimeMs });
  }

  /** Returns the token's value and removes it; null if the token is unknown, spent or expired. */
  spend(token: string): Value | null {
    const found = this.#tokens.get(token);
    this.#tokens.delete(token);
    return found !== undefined && found.expiresAt > this.#parts.now() ? found.value : null;
  }
}
