import type { MaybePromise } from '../maybe-promise.ts';

/** What a token is for: `login`: a browser session. `ticket`: a WebSocket. The others name a session. */
export type TokenKind = 'login' | 'ticket' | 'mcp_session' | 'mcp_request' | 'device_session';

/**
 * Values behind secrets, until they expire. Nodes that share a store share them too; only the hash of a secret is stored.
 * Beyond a bound per kind the oldest are discarded.
 */
export interface TokenStore {
  /** Adds the value, or replaces it with a new expiry. `value` is JSON text. */
  put(kind: TokenKind, secret: string, value: string, lifetimeMs: number): MaybePromise<void>;
  /** Returns null if the secret is unknown or expired. */
  find(kind: TokenKind, secret: string): MaybePromise<string | null>;
  /** Returns the value and removes it: of several nodes that spend it at once, one gets it. */
  spend(kind: TokenKind, secret: string): MaybePromise<string | null>;
}

/** At this number of tokens of a kind, the next one discards the oldest. */
export const TOKEN_CAPACITY: Readonly<Record<TokenKind, number>> = {
  login: 1000,
  ticket: 10_000,
  mcp_session: 10_000,
  mcp_request: 10_000,
  device_session: 100_000,
};
