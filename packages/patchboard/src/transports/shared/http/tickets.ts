import { randomBytes } from 'node:crypto';
import type { Clock } from '../../../core/ports.ts';
import type { Principal } from '../../../core/access/principal.ts';

const TICKET_MS = 60_000;
/** More than anybody needs in a minute; beyond it the oldest are worth nothing. */
const MAX_TICKETS = 10_000;

export interface Ticket {
  readonly ticket: string;
  readonly expiresInSeconds: number;
}

/**
 * Browsers cannot send a header with a WebSocket. A ticket stands for the credential that asked for it: once, and for a
 * minute, so that what is left of it in logs and histories is worth nothing.
 */
export class Tickets {
  readonly #clock: Clock;
  readonly #tickets: Map<string, { readonly principal: Principal; readonly expiresAt: number }> = new Map();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  issue(principal: Principal): Ticket {
    const now = this.#clock.elapsed();
    for (const [old, { expiresAt }] of this.#tickets) {
      if (expiresAt > now && this.#tickets.size < MAX_TICKETS) break;
      this.#tickets.delete(old);
    }
    const ticket = `dt_${randomBytes(24).toString('base64url')}`;
    this.#tickets.set(ticket, { principal, expiresAt: now + TICKET_MS });
    return { ticket, expiresInSeconds: TICKET_MS / 1000 };
  }

  /** Null: it opens nothing, or nothing any more. */
  redeem(ticket: string): Principal | null {
    const found = this.#tickets.get(ticket);
    this.#tickets.delete(ticket);
    return found !== undefined && found.expiresAt > this.#clock.elapsed() ? found.principal : null;
  }
}
