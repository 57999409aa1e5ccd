import { reason } from '@patchboard/wire';
import { randomBytes } from 'node:crypto';
import type { LoginToken, OpenedSession, SessionService } from '../core/access/authenticator.ts';
import { SECRET_PREFIX } from '../core/access/key-index.ts';
import type { KeyService } from '../core/access/key-service.ts';
import { KEY_SESSION_PREFIX, SESSION_PREFIX, type Principal } from '../core/access/principal.ts';
import type { TokenStore } from '../core/access/token-store.ts';
import type { DocumentChange, DocumentKind, DocumentStore } from '../core/documents.ts';
import { failure, type Failure } from '../core/failures.ts';
import type { MaybePromise } from '../core/maybe-promise.ts';
import type { Clock, Digest } from '../core/ports.ts';
import type { SharedChanges } from '../core/shared-changes.ts';
import { isSameSecret } from './operator-token.ts';
import type { OperatorTokenGuard } from './operator-token-guard.ts';
import { sessionsInTheWay } from './session-limits.ts';

const SESSION_MS = 12 * 3_600_000;
const LOGIN_MS = 3_600_000;
const LOGIN_PREFIX = 'ot_';

export interface SessionsParts {
  readonly operatorToken: OperatorTokenGuard;
  readonly keys: KeyService;
  readonly clock: Clock;
  readonly digest: Digest;
  readonly tokens: TokenStore;
  readonly store: DocumentStore;
  readonly changes: SharedChanges;
}

export interface Session {
  /** Identifies the session in logs and records; the session id itself is a secret. */
  readonly credentialId: string;
  readonly expiresAt: number;
  readonly proofSha256: string;
  /** The key that opened the session; absent for a session of an operator. */
  readonly keyId?: string;
}

/**
 * Browser sessions of operators and of keys, by the hash of their id. On a single node they are kept in memory only, so a
 * restart ends them; nodes that share a store share them. A login token is valid for one session. A session of a key names
 * the key and nothing else: its rights are looked up with each request, so they end when the key does.
 */
export class Sessions implements SessionService {
  readonly #parts: SessionsParts;
  readonly #sessions: Map<string, Session> = new Map();
  readonly #closed: Set<(credentialId: string) => void> = new Set();

  constructor(parts: SessionsParts) {
    this.#parts = parts;
    parts.changes.onDocument('session', (hash, body) => this.#apply(hash, body));
    parts.changes.onDocument('key_session', (hash, body) => this.#apply(hash, body));
    parts.keys.index.onRevoked((keyId) => this.#endOf(keyId));
  }

  /** Loads the sessions that other nodes have opened. */
  async load(): Promise<void> {
    const { changes, store } = this.#parts;
    if (!changes.isShared) return;
    for (const kind of ['session', 'key_session'] as const)
      for (const { id, body } of await store.documents(kind)) this.#apply(id, body);
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
    if (isLogin || operatorToken.isRight(token)) return await this.#opened(null);
    // A used login link is not a guess at the operator token, so it is not throttled.
    if (token.startsWith(LOGIN_PREFIX)) return failure('auth_required', reason('login_token_spent'));
    if (token.startsWith(SECRET_PREFIX)) return await this.#openedByKey(token, address);
    return await operatorToken.refuse(address);
  }

  /** A wrong key is throttled like a wrong operator token; one that has expired is not a guess. */
  async #openedByKey(secret: string, address: string | undefined): Promise<OpenedSession | Failure> {
    const { keys, changes, operatorToken } = this.#parts;
    // Another node may have made the key a moment ago.
    if (changes.isShared && keys.isUnknown(secret)) await changes.afterMiss();
    const found = keys.authenticate(secret);
    if (!('code' in found)) return await this.#opened(found.credential);
    if (keys.index.hasSecret(secret)) return found;
    return await operatorToken.refuse(address, found.reasons);
  }

  /** `key`: the credential of the key that opens the session; null for an operator. */
  async #opened(key: Principal['credential']): Promise<OpenedSession> {
    const { clock, digest, changes, store } = this.#parts;
    const keyId = key?.id ?? null;
    const removed = this.#makeRoom(keyId);
    const id = randomBytes(32).toString('base64url');
    const hash = digest.sha256(id);
    const name = randomBytes(9).toString('base64url');
    const proof = randomBytes(32).toString('base64url');
    const now = clock.now();
    const session: Session = {
      credentialId: `${keyId === null ? SESSION_PREFIX : KEY_SESSION_PREFIX}${name}`,
      expiresAt: Math.min(now + SESSION_MS, key?.expiresAt ?? Infinity),
      proofSha256: digest.sha256(proof),
      ...(keyId === null ? {} : { keyId }),
    };
    this.#sessions.set(hash, session);
    if (changes.isShared)
      await store.putDocument(kindOf(session), hash, JSON.stringify(session), [], removed);
    return { id, proof, maxAgeSeconds: Math.ceil((session.expiresAt - now) / 1000) };
  }

  /** Removes the sessions that have ended, and the oldest if there are too many. Not a `BoundedMap`: that must notify the listeners. */
  #makeRoom(keyId: string | null): DocumentChange[] {
    return sessionsInTheWay(this.#sessions, keyId, (session) => !this.#isAlive(session)).map((hash) => {
      const kind = kindOf(this.#sessions.get(hash));
      this.#remove(hash);
      return { kind, id: hash, body: null };
    });
  }

  close(id: string): MaybePromise<void> {
    const { changes } = this.#parts;
    if (!changes.isShared || this.knows(id)) return this.#close(id);
    // Another node may have opened it a moment ago.
    return changes.afterMiss().then(() => this.#close(id));
  }

  #close(id: string): MaybePromise<void> {
    const { changes, store, digest } = this.#parts;
    const hash = digest.sha256(id);
    const session = this.#sessions.get(hash);
    if (session === undefined) return;
    this.#remove(hash);
    if (changes.isShared) return store.deleteDocument(kindOf(session), hash, []);
  }

  /** The key was revoked, here or on another node. */
  #endOf(keyId: string): void {
    for (const [hash, session] of this.#sessions) {
      if (session.keyId !== keyId) continue;
      // A shared one stays until a session is opened next: then its document is deleted.
      if (this.#parts.changes.isShared) this.#notify(session);
      else this.#remove(hash);
    }
  }

  #remove(hash: string): void {
    const session = this.#sessions.get(hash);
    if (session === undefined) return;
    this.#sessions.delete(hash);
    this.#notify(session);
  }

  #notify({ credentialId }: Session): void {
    for (const listener of this.#closed) listener(credentialId);
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
    return [...this.#sessions.values()].some(
      (session) => session.credentialId === credentialId && this.#isAlive(session),
    );
  }

  #isAlive({ expiresAt, keyId }: Session): boolean {
    const { clock, keys } = this.#parts;
    return expiresAt > clock.now() && (keyId === undefined || keys.isInForce(keyId));
  }

  /** False: another node may have opened it a moment ago. */
  knows(id: string): boolean {
    return this.#sessions.has(this.#parts.digest.sha256(id));
  }

  /** Returns null also for a session id without its matching proof. */
  find(id: string, proof: string | string[] | undefined): Session | null {
    const { digest, changes } = this.#parts;
    const hash = digest.sha256(id);
    const session = this.#sessions.get(hash);
    if (session === undefined || typeof proof !== 'string') return null;
    if (!isSameSecret(digest.sha256(proof), session.proofSha256)) return null;
    if (this.#isAlive(session)) return session;
    if (!changes.isShared) this.#remove(hash);
    return null;
  }
}

function kindOf(session: Session | undefined): DocumentKind {
  return session?.keyId === undefined ? 'session' : 'key_session';
}
