import { randomBytes } from 'node:crypto';
import { OneTimeTokens } from '../../../core/access/one-time-tokens.ts';
import type { Clock } from '../../../core/ports.ts';
import type { Principal } from '../../../core/access/principal.ts';

const TICKET_MS = 60_000;
/** At this number, issuing a ticket invalidates the oldest. */
const MAX_TICKETS = 10_000;

export interface Ticket {
  readonly ticket: string;
  readonly expiresInSeconds: number;
}

/**
 * One-time tokens for WebSockets, with which browsers cannot send headers. A ticket stands for the credential it was issued
 * to. It is in the URL, so it expires after a minute and works once: a copy in a log or history is worthless.
 */
export class Tickets {
  readonly #tickets: OneTimeTokens<Principal>;

  constructor(clock: Clock) {
    this.#tickets = new OneTimeTokens({
      capacity: MAX_TICKETS,
      lifetimeMs: TICKET_MS,
      now: () => clock.elapsed(),
    });
  }

  issue(principal: Principal): Ticket {
    const ticket = `dt_${randomBytes(24).toString('base64url')}`;
    this.#tickets.add(ticket, principal);
    return { ticket, expiresInSeconds: TICKET_MS / 1000 };
  }

  /** Returns null if the ticket is unknown, used or expired. */
  redeem(ticket: string): Principal | null {
    return this.#tickets.spend(ticket);
  }
}
