import type { Clock } from '../ports.ts';
import { TOKEN_CAPACITY, type TokenKind, type TokenStore } from './token-store.ts';

interface Kept {
  readonly value: string;
  /** On the monotonic clock. */
  readonly expiresAt: number;
}

/** Tokens of one process, which end with it. */
export class MemoryTokens implements TokenStore {
  readonly #clock: Clock;
  readonly #capacity: Readonly<Record<TokenKind, number>>;
  readonly #kinds: Map<TokenKind, Map<string, Kept>> = new Map();

  constructor(clock: Clock, capacity: Readonly<Record<TokenKind, number>> = TOKEN_CAPACITY) {
    this.#clock = clock;
    this.#capacity = capacity;
  }

  put(kind: TokenKind, secret: string, value: string, lifetimeMs: number): void {
    const tokens = this.#of(kind);
    const now = this.#clock.elapsed();
    tokens.delete(secret);
    for (const [old, { expiresAt }] of tokens) {
      if (expiresAt > now && tokens.size < this.#capacity[kind]) break;
      tokens.delete(old);
    }
    tokens.set(secret, { value, expiresAt: now + lifetimeMs });
  }

  find(kind: TokenKind, secret: string): string | null {
    const found = this.#of(kind).get(secret);
    return found !== undefined && found.expiresAt > this.#clock.elapsed() ? found.value : null;
  }

  spend(kind: TokenKind, secret: string): string | null {
    const value = this.find(kind, secret);
    this.#of(kind).delete(secret);
    return value;
  }

  #of(kind: TokenKind): Map<string, Kept> {
    const tokens = this.#kinds.get(kind) ?? new Map<string, Kept>();
    this.#kinds.set(kind, tokens);
    return tokens;
  }
}
