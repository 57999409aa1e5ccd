import type { Principal } from '../../core/access/principal.ts';
import type { McpClient } from './client.ts';

/** What one client of an older protocol version has open here. It is a name, not a credential. */
export interface Session {
  readonly id: string;
  readonly principal: Principal;
  readonly client: McpClient;
  readonly protocolVersion: string;
  lastUsedAt: number;
}

const MAX_SESSIONS = 10_000;
const IDLE_MS = 3_600_000;

/** The sessions of clients of older protocol versions: bounded, bound to their principals, lost by a restart. */
export class Sessions {
  readonly #sessions: Map<string, Session> = new Map();

  get size(): number {
    return this.#sessions.size;
  }

  /** Beyond the bound, the session that was not used for the longest time is closed. */
  open(session: Session): void {
    this.#sessions.set(session.id, session);
    if (this.#sessions.size <= MAX_SESSIONS) return;
    const [oldest] = this.#sessions.keys();
    if (oldest !== undefined) this.#sessions.delete(oldest);
  }

  /** Undefined also for a session of another principal. */
  use(id: string, principal: Principal, now: number): Session | undefined {
    const session = this.#sessions.get(id);
    if (session === undefined || !isSame(session.principal, principal)) return undefined;
    this.#sessions.delete(id);
    if (session.lastUsedAt + IDLE_MS < now) return undefined;
    session.lastUsedAt = now;
    this.#sessions.set(id, session);
    return session;
  }

  close(id: string): void {
    this.#sessions.delete(id);
  }
}

function isSame(one: Principal, other: Principal): boolean {
  return (
    one.tenant === other.tenant &&
    one.kind === other.kind &&
    one.id === other.id &&
    one.agentId === other.agentId
  );
}
