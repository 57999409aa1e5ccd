import { pause, type Bounds } from './abort.ts';
import { PatchboardError, TimeoutError } from '../errors.ts';
import type { Settings } from './options.ts';

/** Whether a request may arrive twice without harm. */
export type Repeat = 'safe' | 'unsafe';

/**
 * `brief`: a bounded number of tries, and none that would end after the deadline.
 * `patient`: goes on until the server has been out of reach for `reconnectForMs`, or until the deadline.
 */
export type Patience = 'brief' | 'patient';

export interface Retrier {
  /** Waits before the next try, or throws: `error` itself when there shall be none. */
  pause(error: unknown, repeat: Repeat): Promise<void>;
  /** The server is there; how quickly to come back is another matter. */
  reached(): void;
  /** All is well: the next failure is the first. */
  reset(): void;
}

export function retrier(settings: Settings, bounds: Bounds, patience: Patience): Retrier {
  const { clock, retry } = settings;
  let failures = 0;
  let since: number | undefined;

  return {
    async pause(error, repeat) {
      if (!(error instanceof PatchboardError) || !isTransient(error, repeat)) throw error;
      failures += 1;
      since ??= clock.now();
      const delay = delayAfter(settings, failures, error.retryAfterMs);
      const spent =
        patience === 'brief' ? failures > retry.retries : clock.now() - since >= retry.reconnectForMs;
      if (spent || delay === null) throw error;
      const left = bounds.deadline - clock.now();
      if (delay < left) return pause(clock, delay, bounds.signal);
      if (patience === 'brief') throw error;
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

/** Null when the server asks for more patience than there is. */
function delayAfter(settings: Settings, failures: number, retryAfterMs: number | null): number | null {
  const own = backoff(settings, failures);
  if (retryAfterMs === null) return own;
  // Jitter on top, so that all who were turned away do not return in the same instant.
  return retryAfterMs > settings.retry.maxRetryAfterMs ? null : retryAfterMs + own;
}

/** Doubles up to the cap; between half and the whole of it, so that clients spread out. */
export function backoff({ retry, random }: Settings, failures: number): number {
  const whole = Math.min(retry.baseDelayMs * 2 ** (failures - 1), retry.maxDelayMs);
  return whole / 2 + (random() * whole) / 2;
}

/** Refusals by which our own server says that nothing was done. */
const TURNED_AWAY: ReadonlySet<string> = new Set(['rate_limited', 'queue_full', 'overloaded']);

function isTransient(error: PatchboardError, repeat: Repeat): boolean {
  switch (error.kind) {
    case 'network':
      return repeat === 'safe';
    case 'timeout':
    case 'tool_call':
      return false;
    case 'bad_response':
      // A gateway's 502 to 504 leaves open whether the request went through.
      return error.status === 429 || (repeat === 'safe' && isGatewayStatus(error.status));
    case 'problem':
      if (error.status === 429) return true;
      if (!error.retryable || !isGatewayStatus(error.status)) return false;
      return repeat === 'safe' || TURNED_AWAY.has(error.code);
  }
}

function isGatewayStatus(status: number | null): boolean {
  return status === 502 || status === 503 || status === 504;
}
