export interface OneTimeTokensParts {
  /** Of those that were not spent; beyond it the oldest are worth nothing. */
  readonly most: number;
  readonly lifetimeMs: number;
  /** Milliseconds, of whichever clock they are to die by. */
  readonly now: () => number;
}

/** Secrets that are good once and not for long. Those that nobody spends are forgotten. */
export class OneTimeTokens<Value> {
  readonly #parts: OneTimeTokensParts;
  readonly #tokens: Map<string, { readonly value: Value; readonly expiresAt: number }> = new Map();

  constructor(parts: OneTimeTokensParts) {
    this.#parts = parts;
  }

  add(token: string, value: Value): void {
    const { most, lifetimeMs } = this.#parts;
    const now = this.#parts.now();
    for (const [old, { expiresAt }] of this.#tokens) {
      if (expiresAt > now && this.#tokens.size < most) break;
      this.#tokens.delete(old);
    }
    this.#tokens.set(token, { value, expiresAt: now + lifetimeMs });
  }

  /** Null: it is good for nothing, or for nothing any more. */
  spend(token: string): Value | null {
    const found = this.#tokens.get(token);
    this.#tokens.delete(token);
    return found !== undefined && found.expiresAt > this.#parts.now() ? found.value : null;
  }
}
