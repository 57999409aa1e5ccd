import { reason } from '@patchboard/wire';
import { randomBytes } from 'node:crypto';
import type { LoginToken, OpenedSession, SessionService } from '../core/access/authenticator.ts';
import { OneTimeTokens } from '../core/access/one-time-tokens.ts';
import { SESSION_PREFIX } from '../core/access/principal.ts';
import { failure, type Failure } from '../core/failures.ts';
import type { Clock } from '../core/ports.ts';
import { isSameSecret } from './operator-token.ts';
import type { OperatorTokenGuard } from './operator-token-guard.ts';

const SESSION_MS = 12 * 3_600_000;
const LOGIN_MS = 3_600_000;
const MAX_SESSIONS = 1000;
const LOGIN_PREFIX = 'ot_';

interface Session {
  /** Identifies the session in logs and records; the session id itself is a secret. */
  readonly credentialId: string;
  readonly expiresAt: number;
  readonly proof: string;
}

/**
 * Browser sessions of operators. They are kept in memory only, so a restart ends them.
 * A login token is valid for one session.
 */
export class Sessions implements SessionService {
  readonly #clock: Clock;
  readonly #operatorToken: OperatorTokenGuard;
  readonly #sessions: Map<string, Session> = new Map();
  readonly #closed: Set<(credentialId: string) => void> = new Set();
  readonly #loginTokens: OneTimeTokens<true>;

  constructor(operatorToken: OperatorTokenGuard, clock: Clock) {
    this.#operatorToken = operatorToken;
    this.#clock = clock;
    this.#loginTokens = new OneTimeTokens({
      capacity: MAX_SESSIONS,
      lifetimeMs: LOGIN_MS,
      now: () => clock.now(),
    });
  }

  /** Returns a one-time token for a login link. */
  issueLoginToken(): LoginToken {
    const token = `${LOGIN_PREFIX}${randomBytes(24).toString('base64url')}`;
    this.#loginTokens.add(token, true);
    return { token, maxAgeSeconds: LOGIN_MS / 1000 };
  }

  async open(token: string, address: string | undefined): Promise<OpenedSession | Failure> {
    if (this.#loginTokens.spend(token) !== null || this.#operatorToken.isRight(token)) return this.#opened();
    // A used login link is not a guess at the operator token, so it is not throttled.
    if (token.startsWith(LOGIN_PREFIX)) return failure('auth_required', reason('login_token_spent'));
    return await this.#operatorToken.refuse(address);
  }

  #opened(): OpenedSession {
    // Not a `BoundedMap`: eviction must call `close`, which notifies the listeners.
    const [oldest] = this.#sessions.keys();
    if (this.#sessions.size >= MAX_SESSIONS && oldest !== undefined) this.close(oldest);
    const id = randomBytes(32).toString('base64url');
    const credentialId = `${SESSION_PREFIX}${randomBytes(9).toString('base64url')}`;
    const proof = randomBytes(32).toString('base64url');
    this.#sessions.set(id, { credentialId, expiresAt: this.#clock.now() + SESSION_MS, proof });
    return { id, proof, maxAgeSeconds: SESSION_MS / 1000 };
  }

  close(id: string): void {
    const session = this.#sessions.get(id);
    if (session === undefined) return;
    this.#sessions.delete(id);
    for (const listener of this.#closed) listener(session.credentialId);
  }

  onClosed(listener: (credentialId: string) => void): () => void {
    this.#closed.add(listener);
    return () => {
      this.#closed.delete(listener);
    };
  }

  isInForce(credentialId: string): boolean {
    const now = this.#clock.now();
    return [...this.#sessions.values()].some(
      (session) => session.credentialId === credentialId && session.expiresAt > now,
    );
  }

  /** Returns null also for a session id without its matching proof. */
  find(id: string, proof: string | string[] | undefined): Session | null {
    const session = this.#sessions.get(id);
    if (session === undefined || typeof proof !== 'string' || !isSameSecret(proof, session.proof))
      return null;
    if (session.expiresAt > this.#clock.now()) return session;
    this.close(id);
    return null;
  }
}
