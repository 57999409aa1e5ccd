import { pause, type Bounds } from './abort.ts';
import { PatchboardError, TimeoutError } from '../errors.ts';
import type { Settings } from './options.ts';

/** Whether a request may be sent twice. */
export type Repeat = 'safe' | 'unsafe';

/**
 * `brief`: a limited number of retries, and none that would start after the deadline.
 * `patient`: retries until the server has been unreachable for `reconnectForMs`, or until the deadline.
 */
export type RetryMode = 'brief' | 'patient';

export interface Retrier {
  /** Waits before the next attempt, or throws `error` if there must be none. */
  pause(error: unknown, repeat: Repeat): Promise<void>;
  /** Call when the server was reached: restarts `reconnectForMs` but keeps the back-off delay. */
  reached(): void;
  /** Call after a success: the next failure counts as the first. */
  reset(): void;
}

export function retrier(settings: Settings, bounds: Bounds, mode: RetryMode): Retrier {
  const { clock, retry } = settings;
  let failures = 0;
  let since: number | undefined;

  return {
    async pause(error, repeat) {
      if (!(error instanceof PatchboardError) || !isTransient(error, repeat)) throw error;
      failures += 1;
      since ??= clock.now();
      const delay = delayAfter(settings, failures, error.retryAfterMs);
      const spent = mode === 'brief' ? failures > retry.retries : clock.now() - since >= retry.reconnectForMs;
      if (spent || delay === null) throw error;
      const left = bounds.deadline - clock.now();
      if (delay < left) return pause(clock, delay, bounds.signal);
      if (mode === 'brief') throw error;
      await pause(clock, Math.max(left, 0), bounds.signal);
      throw new TimeoutError('the time limit passed while the server could not be reached', { cause: error });
    },
    reached() {
      since = undefined;
    },
    reset() {
      failures = 0;
      since = undefined;
    },
  };
}

/** Returns null if `Retry-After` exceeds the limit. */
function delayAfter(settings: Settings, failures: number, retryAfterMs: number | null): number | null {
  const own = backoff(settings, failures);
  if (retryAfterMs === null) return own;
  // Add jitter, so that rejected clients do not all return at the same time.
  return retryAfterMs > settings.retry.maxRetryAfterMs ? null : retryAfterMs + own;
}

/** Exponential back-off with a cap; jitter between half and all of the delay. */
export function backoff({ retry, random }: Settings, failures: number): number {
  const whole = Math.min(retry.baseDelayMs * 2 ** (failures - 1), retry.maxDelayMs);
  return whole / 2 + (random() * whole) / 2;
}

/** Codes with which the server guarantees that the request had no effect. */
const HAD_NO_EFFECT: ReadonlySet<string> = new Set(['rate_limited', 'queue_full', 'overloaded']);

function isTransient(error: PatchboardError, repeat: Repeat): boolean {
  switch (error.kind) {
    case 'network':
      return repeat === 'safe';
    case 'timeout':
    case 'tool_call':
    case 'input':
      return false;
    case 'bad_response':
      // After a gateway's 502 to 504, it is unknown whether the server processed the request.
      return error.status === 429 || (repeat === 'safe' && isGatewayStatus(error.status));
    case 'problem':
      if (error.status === 429) return true;
      if (!error.retryable || !isGatewayStatus(error.status)) return false;
      return repeat === 'safe' || HAD_NO_EFFECT.has(error.code);
  }
}

function isGatewayStatus(status: number | null): boolean {
  return status === 502 || status === 503 || status === 504;
}
