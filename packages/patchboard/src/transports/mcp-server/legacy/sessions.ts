import type { Principal } from '../../../core/access/principal.ts';
import type { OpenStreams } from '../../shared/streams/open-streams.ts';
import type { Session } from './session.ts';

const MAX_SESSIONS = 10_000;
/** Below the bound of all, so that one principal cannot close the sessions of others. */
const MAX_OF_PRINCIPAL = 1000;
const IDLE_MS = 3_600_000;

/**
 * The sessions of clients of older protocol versions at this node, in memory. Beyond a bound, the least recently used session
 * is closed.
 */
export class Sessions {
  /** In order of last use: the first is the least recently used. */
  readonly #sessions: Map<string, Session> = new Map();
  /** The same sessions in the same order, by principal. */
  readonly #ofPrincipal: Map<string, Map<string, Session>> = new Map();

  get size(): number {
    return this.#sessions.size;
  }

  open(session: Session, openStreams: OpenStreams): void {
    this.#closeIdle(session.lastUsedAt);
    this.#add(session);
    // A session outlives the token of a request, which expires, but not a credential that was revoked.
    const { principal } = session;
    const credential = principal.credential === null ? null : { ...principal.credential, expiresAt: null };
    session.onClose(openStreams.add(() => this.close(session), { ...principal, credential }));
    const own = this.#ofPrincipal.get(nameOf(principal));
    if (own !== undefined && own.size > MAX_OF_PRINCIPAL) this.#closeFirst(own);
    if (this.#sessions.size > MAX_SESSIONS) this.#closeFirst(this.#sessions);
  }

  /** For messages of other nodes, which have checked the principal. */
  find(id: string): Session | undefined {
    return this.#sessions.get(id);
  }

  /** Undefined also for a session of another principal. */
  use(id: string, principal: Principal, now: number): Session | undefined {
    const session = this.#sessions.get(id);
    if (session === undefined || nameOf(session.principal) !== nameOf(principal)) return undefined;
    if (isIdle(session, now)) {
      this.close(session);
      return undefined;
    }
    session.lastUsedAt = now;
    this.#remove(session);
    this.#add(session);
    return session;
  }

  close(session: Session): void {
    if (this.#sessions.get(session.id) !== session) return;
    this.#remove(session);
    session.close();
  }

  #add(session: Session): void {
    const name = nameOf(session.principal);
    const own = this.#ofPrincipal.get(name) ?? new Map<string, Session>();
    this.#ofPrincipal.set(name, own);
    own.set(session.id, session);
    this.#sessions.set(session.id, session);
  }

  #remove({ id, principal }: Session): void {
    const name = nameOf(principal);
    const own = this.#ofPrincipal.get(name);
    own?.delete(id);
    if (own?.size === 0) this.#ofPrincipal.delete(name);
    this.#sessions.delete(id);
  }

  #closeFirst(sessions: ReadonlyMap<string, Session>): void {
    const [first] = sessions.values();
    if (first !== undefined) this.close(first);
  }

  /** Sessions that are idle come first, except busy ones that were not used for long. */
  #closeIdle(now: number): void {
    for (const session of this.#sessions.values()) {
      if (session.lastUsedAt + IDLE_MS >= now) return;
      if (!session.isBusy) this.close(session);
    }
  }
}

function isIdle(session: Session, now: number): boolean {
  return session.lastUsedAt + IDLE_MS < now && !session.isBusy;
}

/** Identifies the owner of a session. */
export function nameOf({ tenant, kind, id, agentId }: Principal): string {
  return JSON.stringify([tenant, kind, id, agentId]);
}
