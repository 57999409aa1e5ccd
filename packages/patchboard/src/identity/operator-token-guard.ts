import { failure, messageOf, type Failure } from '../core/failures.ts';
import { plainRow } from '../core/ledger/ledger.ts';
import type { Clock, Log, Store } from '../core/ports.ts';
import { DEFAULT_TENANT } from '../core/access/principal.ts';
import { TokenBuckets, type Rate } from '../core/access/token-buckets.ts';
import { isSameSecret } from './operator-token.ts';

export interface OperatorTokenGuardParts {
  readonly token: string;
  readonly clock: Clock;
  readonly store: Pick<Store, 'append'>;
  readonly log: Log;
}

/** Wrong tokens from one address before it gets 429. A person who mistypes stays below. */
const WRONG_PER_ADDRESS: Rate = { burst: 10, perSecond: 0.1 };
/** Ledger rows of all addresses together, as many as one principal's refused calls get. */
const RECORDED: Rate = { burst: 100, perSecond: 1 };
/** An address as a proxy reports it is text of any length. */
const ADDRESS_CHARACTERS = 100;
/** Of a request that came by no socket: a board in another server has such. */
const UNKNOWN_ADDRESS = 'unknown';

/**
 * Compares operator tokens. Wrong ones are throttled per address and leave ledger rows, a bounded number of them. The
 * right one is compared first and always passes: a flood from the operator's own address does not lock them out.
 */
export class OperatorTokenGuard {
  readonly #parts: OperatorTokenGuardParts;
  readonly #buckets: TokenBuckets;
  /** Wrong tokens since the last row. */
  #unrecorded = 0;

  constructor(parts: OperatorTokenGuardParts) {
    this.#parts = parts;
    this.#buckets = new TokenBuckets(parts.clock);
  }

  isRight(token: string): boolean {
    return isSameSecret(token, this.#parts.token);
  }

  /** What the sender of a wrong token gets, once its row is written. */
  async refuse(address: string = UNKNOWN_ADDRESS): Promise<Failure> {
    const allowance = this.#buckets.take(`address\n${address}`, WRONG_PER_ADDRESS);
    if (allowance.allowed && this.#buckets.take('rows', RECORDED).allowed) await this.#record(address);
    else this.#unrecorded += 1;
    if (allowance.allowed) return failure('auth_required', 'this is not the operator token of this server');
    return failure('rate_limited', 'too many wrong operator tokens came from this address', {
      rate: { ...allowance, policy: 'address' },
    });
  }

  async #record(address: string): Promise<void> {
    const { store, clock, log } = this.#parts;
    const missed = this.#unrecorded;
    this.#unrecorded = 0;
    const unrecorded = missed === 0 ? {} : { unrecorded: missed };
    const fields = { address: address.slice(0, ADDRESS_CHARACTERS), ...unrecorded };
    log.warn('operator_token.refused', fields);
    try {
      await store.append([plainRow('operator_token.refused', DEFAULT_TENANT, clock.now(), fields)]);
    } catch (error) {
      // A token that is wrong stays refused, with room for a row or without.
      this.#unrecorded += missed + 1;
      log.error('operator_token.not_recorded', { error: messageOf(error) });
    }
  }
}
