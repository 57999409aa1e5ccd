import { abortReason, onAbort, type Bounds } from './abort.ts';
import { NetworkError, PatchboardError, TimeoutError } from '../errors.ts';
import type { Settings } from './options.ts';

/** Aborts one request attempt on the caller's abort, the caller's deadline or a timeout. */
export interface Guard {
  readonly signal: AbortSignal;
  /** The attempt ends after this long unless armed again or disarmed. */
  arm(ms: number): void;
  disarm(): void;
  /** Converts what an aborted or failed fetch throws to the error for the caller. */
  explain(error: unknown): unknown;
  /** Aborts the attempt and removes all listeners and timers. */
  dispose(): void;
}

export function guardAttempt(settings: Settings, bounds: Bounds): Guard {
  const { clock, url } = settings;
  const controller = new AbortController();
  // Stored here because older runtimes drop the reason given to abort().
  let stopped: { readonly reason: unknown } | undefined;
  let disarm = (): void => undefined;

  function stop(reason: unknown): void {
    stopped ??= { reason };
    controller.abort(reason);
  }

  const detach = onAbort(bounds.signal, () => {
    if (bounds.signal !== undefined) stop(abortReason(bounds.signal));
  });

  return {
    signal: controller.signal,
    arm(ms) {
      disarm();
      const left = bounds.deadline - clock.now();
      disarm =
        left <= ms
          ? clock.after(Math.max(left, 0), () =>
              stop(new TimeoutError('the time limit of this request passed')),
            )
          : clock.after(ms, () => stop(new NetworkError(`${url} did not respond within ${ms} ms`)));
    },
    disarm: () => disarm(),
    explain(error) {
      if (stopped !== undefined) return stopped.reason;
      if (error instanceof PatchboardError) return error;
      return new NetworkError(`cannot reach ${url}: ${describe(error)}`, error);
    },
    dispose() {
      disarm();
      detach();
      stop(new NetworkError('the request is over'));
    },
  };
}

/** Runtimes throw a bare "fetch failed"; the details are in its cause. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.cause instanceof Error) return describe(error.cause);
  const code = (error as { readonly code?: unknown }).code;
  if (error.message !== '') return error.message;
  return typeof code === 'string' ? code : error.name;
}
