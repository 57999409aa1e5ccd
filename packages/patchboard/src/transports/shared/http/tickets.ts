import { randomBytes } from 'node:crypto';
import { OneTimeTokens } from '../../../core/access/one-time-tokens.ts';
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
  readonly #tickets: OneTimeTokens<Principal>;

  constructor(clock: Clock) {
    this.#tickets = new OneTimeTokens({
      most: MAX_TICKETS,
      lifetimeMs: TICKET_MS,
      now: () => clock.elapsed(),
    });
  }

  issue(principal: Principal): Ticket {
    const ticket = `dt_${randomBytes(24).toString('base64url')}`;
    this.#tickets.add(ticket, principal);
    return { ticket, expiresInSeconds: TICKET_MS / 1000 };
  }

  /** Null: it opens nothing, or nothing any more. */
  redeem(ticket: string): Principal | null {
    return this.#tickets.spend(ticket);
  }
}
