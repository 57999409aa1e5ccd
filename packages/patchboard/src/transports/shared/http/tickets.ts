import { randomBytes } from 'node:crypto';
import { principalFrom, principalText, type Principal } from '../../../core/access/principal.ts';
import type { TokenStore } from '../../../core/access/token-store.ts';
import { andThen, type MaybePromise } from '../../../core/maybe-promise.ts';

const TICKET_MS = 60_000;

export interface Ticket {
  readonly ticket: string;
  readonly expiresInSeconds: number;
}

/**
 * One-time tokens for WebSockets, with which browsers cannot send headers. A ticket stands for the credential it was issued
 * to. It is in the URL, so it expires after a minute and works once: a copy in a log or history is worthless.
 */
export class Tickets {
  readonly #tokens: TokenStore;

  constructor(tokens: TokenStore) {
    this.#tokens = tokens;
  }

  issue(principal: Principal): MaybePromise<Ticket> {
    const ticket = `dt_${randomBytes(24).toString('base64url')}`;
    const stored = this.#tokens.put('ticket', ticket, principalText(principal), TICKET_MS);
    return andThen(stored, () => ({ ticket, expiresInSeconds: TICKET_MS / 1000 }));
  }

  /** Returns null if the ticket is unknown, used or expired. */
  redeem(ticket: string): MaybePromise<Principal | null> {
    return andThen(this.#tokens.spend('ticket', ticket), (text) =>
      text === null ? null : principalFrom(text),
    );
  }
}
