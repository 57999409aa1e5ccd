import { reason } from '@patchboard/wire';
import { failure, messageOf, type CodedReason, type Failure } from '../core/failures.ts';
import { plainRow } from '../core/ledger/ledger.ts';
import type { Clock, Log, Store } from '../core/ports.ts';
import { DEFAULT_TENANT } from '../core/access/principal.ts';
import { TokenBuckets, type Rate } from '../core/access/token-buckets.ts';
import { hasOperatorTokenPrefix, isSameSecret, MIN_TOKEN_CHARACTERS } from './operator-token.ts';

export interface OperatorTokenGuardParts {
  /** One token, or two during a rotation. */
  readonly tokens: readonly string[];
  readonly clock: Clock;
  readonly store: Pick<Store, 'append'>;
  readonly log: Log;
}

/** Wrong tokens that one address may send before it gets 429. A person who mistypes stays below this. */
const WRONG_PER_ADDRESS: Rate = { burst: 10, perSecond: 0.1 };
/** Ledger rows for all addresses together; the same rate as for the refused calls of one principal. */
const RECORDED: Rate = { burst: 100, perSecond: 1 };
/** Bounds the recorded address: a proxy may report text of any length. */
const ADDRESS_CHARACTERS = 100;
/** The address of a request without a socket, which a board mounted in another server can have. */
const UNKNOWN_ADDRESS = 'unknown';

/**
 * Checks operator tokens. Wrong tokens are throttled per address and recorded in the ledger at a bounded rate. The right
 * token is never throttled: a flood of wrong tokens from the operator's own address does not lock the operator out.
 */
export class OperatorTokenGuard {
  readonly #parts: OperatorTokenGuardParts;
  readonly #buckets: TokenBuckets;
  /** Number of wrong tokens since the last ledger row. */
  #unrecorded = 0;

  constructor(parts: OperatorTokenGuardParts) {
    this.#parts = parts;
    this.#buckets = new TokenBuckets(parts.clock);
  }

  isRight(token: string): boolean {
    // Compares with every token, so that the time taken does not reveal which one matched.
    return this.#parts.tokens.map((one) => isSameSecret(token, one)).includes(true);
  }

  /** Whether a wrong credential could be a guess at a token that has no prefix, such as one of the environment. */
  mayBeGuess(credential: string): boolean {
    return (
      credential.length >= MIN_TOKEN_CHARACTERS &&
      !this.#parts.tokens.every((token) => hasOperatorTokenPrefix(token))
    );
  }

  /** Records a wrong token and returns the failure for its sender. */
  async refuse(
    address: string = UNKNOWN_ADDRESS,
    wrong: CodedReason = reason('operator_token_wrong'),
  ): Promise<Failure> {
    const allowance = this.#buckets.take(`address\n${address}`, WRONG_PER_ADDRESS);
    if (allowance.allowed && this.#buckets.take('rows', RECORDED).allowed) await this.#record(address);
    else this.#unrecorded += 1;
    if (allowance.allowed) return failure('auth_required', wrong);
    return failure('rate_limited', reason('operator_token_guessed'), {
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
      // The token is refused even if its row could not be written.
      this.#unrecorded += missed + 1;
      log.error('operator_token.not_recorded', { error: messageOf(error) });
    }
  }
}
