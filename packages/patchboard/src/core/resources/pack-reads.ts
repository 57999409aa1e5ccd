import { isFailureCode, reason } from '@patchboard/wire';
import { Counters } from '../counters.ts';
import type { Principal } from '../access/principal.ts';
import type { RateLimits } from '../access/rate-limits.ts';
import { failure, foreignText, messageOf, ToolFailure, type Failure } from '../failures.ts';
import type { Limits } from '../limits.ts';
import type { Clock } from '../ports.ts';
import type { Result } from '../result.ts';
import { withTimeLimit } from '../time-limit.ts';
import type { ResourceContext } from './resource.ts';

const MESSAGE_CHARACTERS = 2000;

export interface PackReadsParts {
  readonly clock: Clock;
  readonly limits: Pick<Limits, 'resourceTimeoutMs' | 'concurrencyPerTenant'>;
  readonly rates: Pick<RateLimits, 'request'>;
}

/** Calls functions of packs under a rate limit, a time limit and a number of reads that one tenant runs at once. */
export class PackReads {
  readonly #parts: PackReadsParts;
  readonly #running: Counters = new Counters();

  constructor(parts: PackReadsParts) {
    this.#parts = parts;
  }

  async run<Value>(
    principal: Principal,
    signal: AbortSignal | undefined,
    read: (context: ResourceContext) => Value | Promise<Value>,
  ): Promise<Result<Value>> {
    const refused = this.#refusal(principal);
    if (refused !== null) return { ok: false, failure: refused };
    const { clock, limits } = this.#parts;
    const ms = limits.resourceTimeoutMs;
    const stop = new AbortController();
    const leave = this.#running.enter(principal.tenant);
    try {
      const work = orCancelled(attempt(read, { principal, signal: stop.signal }), signal);
      const late = failure('timeout', reason('resource_timed_out', { ms }));
      return await withTimeLimit<Result<Value>>(clock, ms, work, () => ({ ok: false, failure: late }));
    } finally {
      // Whatever ended it: a pack that still works on it may stop.
      stop.abort();
      leave();
    }
  }

  #refusal(principal: Principal): Failure | null {
    const tooFast = this.#parts.rates.request(principal);
    if (tooFast !== null) return tooFast;
    const count = this.#parts.limits.concurrencyPerTenant;
    if (this.#running.of(principal.tenant) < count) return null;
    return failure('overloaded', reason('resource_reads_of_tenant', { count }));
  }
}

async function attempt<Value>(
  read: (context: ResourceContext) => Value | Promise<Value>,
  context: ResourceContext,
): Promise<Result<Value>> {
  try {
    return { ok: true, value: await read(context) };
  } catch (error) {
    return { ok: false, failure: failureOf(error) };
  }
}

function failureOf(error: unknown): Failure {
  if (error instanceof ToolFailure) {
    const { code, message } = error.failure as Partial<Failure>;
    if (isFailureCode(code) && typeof message === 'string') return error.failure;
  }
  return failure('resource_failed', foreignText(messageOf(error).slice(0, MESSAGE_CHARACTERS)));
}

/** Resolves with the result of `work`, which never rejects, or with `cancelled` when the caller goes away. */
async function orCancelled<Value>(
  work: Promise<Result<Value>>,
  signal: AbortSignal | undefined,
): Promise<Result<Value>> {
  if (signal === undefined) return await work;
  let abort = (): void => {};
  try {
    return await new Promise<Result<Value>>((resolve, reject) => {
      abort = () => resolve({ ok: false, failure: failure('cancelled') });
      signal.addEventListener('abort', abort, { once: true });
      if (signal.aborted) abort();
      work.then(resolve, reject);
    });
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
