import type { Principal } from '../../../core/access/principal.ts';
import type { HttpContext } from '../../shared/http/context.ts';
import { Session } from './session.ts';
import { signalSession } from './session-signals.ts';
import { nameOf, type Sessions } from './sessions.ts';

/** What every node needs of a session. The stream and the requests under way belong to one node. */
interface StoredSession extends Pick<Session, 'client' | 'protocolVersion' | 'logLevel'> {
  /** The principal that opened it. */
  readonly owner: string;
  readonly subscriptions: readonly string[];
}

/** How long a session can be named without being used. */
const LIFETIME_MS = 24 * 3_600_000;
/** A session in use is stored again after this. */
const RENEW_MS = 3_600_000;
/** How long a node goes without looking whether another one has changed or closed the session. */
const RECHECK_MS = 1000;

/** Sessions of nodes that share a store: a request that names one may reach any node. */
export class SharedSessions {
  readonly #sessions: Sessions;
  /** What was stored of each session that this node has, and when, on the monotonic clock. */
  readonly #known: WeakMap<Session, { text: string; storedAt: number; checkedAt: number }> = new WeakMap();

  constructor(sessions: Sessions) {
    this.#sessions = sessions;
  }

  /** Undefined also for a session of another principal. */
  async use(context: HttpContext, id: string, principal: Principal): Promise<Session | undefined> {
    const { tokens, clock } = context;
    const local = this.#sessions.use(id, principal, clock.now());
    const known = local === undefined ? undefined : this.#known.get(local);
    if (known !== undefined && clock.elapsed() - known.checkedAt < RECHECK_MS) return local;
    const text = await tokens.find('mcp_session', id);
    if (text === null) {
      if (local !== undefined) this.#sessions.close(local);
      return undefined;
    }
    const stored = JSON.parse(text) as StoredSession;
    if (stored.owner !== nameOf(principal)) return undefined;
    // Another request may have restored it meanwhile.
    const session =
      this.#sessions.use(id, principal, clock.now()) ?? this.#restored(context, id, principal, stored);
    session.change(stored.logLevel, stored.subscriptions);
    const now = clock.elapsed();
    const storedAt = this.#known.get(session)?.storedAt ?? -Infinity;
    this.#known.set(session, { text, storedAt, checkedAt: now });
    if (now - storedAt > RENEW_MS) await this.#store(context, session);
    return session;
  }

  /** Stores a session that was opened, or changed by a request, so that the next one may reach any node. */
  async save(context: HttpContext, session: Session): Promise<void> {
    if (this.#known.get(session)?.text === textOf(session)) return;
    await this.#store(context, session);
    signalSession(context.engine, session.id, { kind: 'changed' });
  }

  /** Ends the session at every node. */
  async close({ tokens, engine }: HttpContext, session: Session): Promise<void> {
    this.#sessions.close(session);
    await tokens.spend('mcp_session', session.id);
    signalSession(engine, session.id, { kind: 'changed' });
  }

  /** Applies what another node has stored of a session that this node has. */
  async refresh(tokens: HttpContext['tokens'], session: Session): Promise<void> {
    const text = await tokens.find('mcp_session', session.id);
    if (text === null) return this.#sessions.close(session);
    const { logLevel, subscriptions } = JSON.parse(text) as StoredSession;
    session.change(logLevel, subscriptions);
    const known = this.#known.get(session);
    if (known !== undefined) known.text = text;
  }

  #restored(
    { clock, openStreams }: HttpContext,
    id: string,
    principal: Principal,
    { client, protocolVersion }: StoredSession,
  ): Session {
    const session = new Session({ principal, client, protocolVersion, lastUsedAt: clock.now() }, id);
    this.#sessions.open(session, openStreams);
    return session;
  }

  async #store({ tokens, clock }: HttpContext, session: Session): Promise<void> {
    const text = textOf(session);
    const now = clock.elapsed();
    this.#known.set(session, { text, storedAt: now, checkedAt: now });
    await tokens.put('mcp_session', session.id, text, LIFETIME_MS);
  }
}

function textOf({ principal, client, protocolVersion, logLevel, subscriptions }: Session): string {
  const stored: StoredSession = {
    owner: nameOf(principal),
    client,
    protocolVersion,
    logLevel,
    subscriptions: [...subscriptions],
  };
  return JSON.stringify(stored);
}
