import { randomBytes } from 'node:crypto';
import type { SessionBook } from '../core/authenticator.ts';
import type { Clock } from '../core/ports.ts';
import { isSameSecret } from './operator-token.ts';

const SESSION_MS = 12 * 3_600_000;
const LOGIN_MS = 3_600_000;
const MAX_SESSIONS = 1000;

interface Session {
  readonly expiresAt: number;
}

/**
 * Browser sessions of operators. They live in memory: after a restart one logs in again.
 * A login token opens one session and is worth nothing afterwards.
 */
export class Sessions implements SessionBook {
  readonly #clock: Clock;
  readonly #operatorToken: string;
  readonly #sessions: Map<string, Session> = new Map();
  readonly #loginTokens: Map<string, number> = new Map();

  constructor(operatorToken: string, clock: Clock) {
    this.#operatorToken = operatorToken;
    this.#clock = clock;
  }

  /** For the link that is printed at the start. */
  issueLoginToken(): string {
    const token = `ot_${randomBytes(24).toString('base64url')}`;
    this.#loginTokens.set(token, this.#clock.now() + LOGIN_MS);
    return token;
  }

  /** Null: the token opens nothing. */
  open(token: string): { readonly id: string; readonly maxAgeSeconds: number } | null {
    if (!this.#spend(token) && !isSameSecret(token, this.#operatorToken)) return null;
    const [oldest] = this.#sessions.keys();
    if (this.#sessions.size >= MAX_SESSIONS && oldest !== undefined) this.#sessions.delete(oldest);
    const id = randomBytes(32).toString('base64url');
    this.#sessions.set(id, { expiresAt: this.#clock.now() + SESSION_MS });
    return { id, maxAgeSeconds: SESSION_MS / 1000 };
  }

  close(id: string): void {
    this.#sessions.delete(id);
  }

  find(id: string): Session | null {
    const session = this.#sessions.get(id);
    if (session === undefined) return null;
    if (session.expiresAt > this.#clock.now()) return session;
    this.#sessions.delete(id);
    return null;
  }

  #spend(token: string): boolean {
    const expiresAt = this.#loginTokens.get(token);
    this.#loginTokens.delete(token);
    return expiresAt !== undefined && expiresAt > this.#clock.now();
  }
}
