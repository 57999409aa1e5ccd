import { reason } from '@patchboard/wire';
import { randomBytes } from 'node:crypto';
import type { LoginToken, OpenedSession, SessionService } from '../core/access/authenticator.ts';
import { SESSION_PREFIX } from '../core/access/principal.ts';
import type { TokenStore } from '../core/access/token-store.ts';
import type { DocumentStore } from '../core/documents.ts';
import { failure, type Failure } from '../core/failures.ts';
import type { MaybePromise } from '../core/maybe-promise.ts';
import type { Clock, Digest } from '../core/ports.ts';
import type { SharedChanges } from '../core/shared-changes.ts';
import { isSameSecret } from './operator-token.ts';
import type { OperatorTokenGuard } from './operator-token-guard.ts';

const SESSION_MS = 12 * 3_600_000;
const LOGIN_MS = 3_600_000;
const MAX_SESSIONS = 1000;
const LOGIN_PREFIX = 'ot_';

export interface SessionsParts {
  readonly operatorToken: OperatorTokenGuard;
  readonly clock: Clock;
  readonly digest: Digest;
  readonly tokens: TokenStore;
  readonly store: DocumentStore;
  readonly changes: SharedChanges;
}

interface Session {
  /** Identifies the session in logs and records; the session id itself is a secret. */
  readonly credentialId: string;
  readonly expiresAt: number;
  readonly proofSha256: string;
}

/**
 * Browser sessions of operators, by the hash of their id. On a single node they are kept in memory only, so a restart ends
 * them; nodes that share a store share them. A login token is valid for one session.
 */
export class Sessions implements SessionService {
  readonly #parts: SessionsParts;
  readonly #sessions: Map<string, Session> = new Map();
  readonly #closed: Set<(credentialId: string) => void> = new Set();

  constructor(parts: SessionsParts) {
    this.#parts = parts;
    parts.changes.onDocument('session', (hash, body) => this.#apply(hash, body));
  }

  /** Loads the sessions that other nodes have opened. */
  async load(): Promise<void> {
    const { changes, store } = this.#parts;
    if (!changes.isShared) return;
    for (const { id, body } of await store.documents('session')) this.#apply(id, body);
  }

  /** Returns a one-time token for a login link. */
  issueLoginToken(): LoginToken {
    const token = `${LOGIN_PREFIX}${randomBytes(24).toString('base64url')}`;
    const stored = this.#parts.tokens.put('login', token, 'true', LOGIN_MS);
    return { token, maxAgeSeconds: LOGIN_MS / 1000, stored };
  }

  async open(token: string, address: string | undefined): Promise<OpenedSession | Failure> {
    const { tokens, operatorToken } = this.#parts;
    const isLogin = token.startsWith(LOGIN_PREFIX) && (await tokens.spend('login', token)) !== null;
    if (isLogin || operatorToken.isRight(token)) return await this.#opened();
    // A used login link is not a guess at the operator token, so it is not throttled.
    if (token.startsWith(LOGIN_PREFIX)) return failure('auth_required', reason('login_token_spent'));
    return await operatorToken.refuse(address);
  }

  async #opened(): Promise<OpenedSession> {
    const { clock, digest, changes, store } = this.#parts;
    const removed = this.#makeRoom();
    const id = randomBytes(32).toString('base64url');
    const hash = digest.sha256(id);
    const credentialId = `${SESSION_PREFIX}${randomBytes(9).toString('base64url')}`;
    const proof = randomBytes(32).toString('base64url');
    const session: Session = {
      credentialId,
      expiresAt: clock.now() + SESSION_MS,
      proofSha256: digest.sha256(proof),
    };
    this.#sessions.set(hash, session);
    if (changes.isShared) {
      const others = removed.map((old) => ({ kind: 'session', id: old, body: null }) as const);
      await store.putDocument('session', hash, JSON.stringify(session), [], others);
    }
    return { id, proof, maxAgeSeconds: SESSION_MS / 1000 };
  }

  /** Removes expired sessions, and the oldest if there are too many. Not a `BoundedMap`: that must notify the listeners. */
  #makeRoom(): string[] {
    const now = this.#parts.clock.now();
    const removed: string[] = [];
    for (const [hash, { expiresAt }] of this.#sessions) {
      if (expiresAt > now && this.#sessions.size < MAX_SESSIONS) continue;
      this.#remove(hash);
      removed.push(hash);
    }
    return removed;
  }

  close(id: string): MaybePromise<void> {
    const { changes, store, digest } = this.#parts;
    const hash = digest.sha256(id);
    if (!this.#sessions.has(hash)) return;
    this.#remove(hash);
    if (changes.isShared) return store.deleteDocument('session', hash, []);
  }

  #remove(hash: string): void {
    const session = this.#sessions.get(hash);
    if (session === undefined) return;
    this.#sessions.delete(hash);
    for (const listener of this.#closed) listener(session.credentialId);
  }

  /** Applies a change of another node. */
  #apply(hash: string, body: string | null): void {
    if (body === null) this.#remove(hash);
    else this.#sessions.set(hash, JSON.parse(body) as Session);
  }

  onClosed(listener: (credentialId: string) => void): () => void {
    this.#closed.add(listener);
    return () => {
      this.#closed.delete(listener);
    };
  }

  isInForce(credentialId: string): boolean {
    const now = this.#parts.clock.now();
    return [...this.#sessions.values()].some(
      (session) => session.credentialId === credentialId && session.expiresAt > now,
    );
  }

  /** False: another node may have opened it a moment ago. */
  knows(id: string): boolean {
    return this.#sessions.has(this.#parts.digest.sha256(id));
  }

  /** Returns null also for a session id without its matching proof. */
  find(id: string, proof: string | string[] | undefined): Session | null {
    const { clock, digest, changes } = this.#parts;
    const hash = digest.sha256(id);
    const session = this.#sessions.get(hash);
    if (session === undefined || typeof proof !== 'string') return null;
    if (!isSameSecret(digest.sha256(proof), session.proofSha256)) return null;
    if (session.expiresAt > clock.now()) return session;
    // A shared one stays until a session is opened next: then its document is deleted.
    if (!changes.isShared) this.#remove(hash);
    return null;
  }
}
