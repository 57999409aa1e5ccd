import type { ClientClock } from './runtime.ts';

/** Limits of an operation: the caller's signal and a deadline on the client's clock. */
export interface Bounds {
  readonly signal: AbortSignal | undefined;
  /** `Infinity` when there is none. */
  readonly deadline: number;
}

/** Returns what fetch would throw; older runtimes have no `reason`. */
export function abortReason(signal: AbortSignal): unknown {
  if (signal.reason !== undefined) return signal.reason;
  const error = new Error('This operation was aborted');
  error.name = 'AbortError';
  return error;
}

export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw abortReason(signal);
}

/** Runs `action` on abort, or immediately if already aborted. Returns a function that removes the listener. */
export function onAbort(signal: AbortSignal | undefined, action: () => void): () => void {
  if (signal === undefined) return () => undefined;
  if (signal.aborted) {
    action();
    return () => undefined;
  }
  signal.addEventListener('abort', action, { once: true });
  return () => signal.removeEventListener('abort', action);
}

/** Settles with `work`, or rejects on abort even if `work` ignores the signal. */
export async function orAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let detach = (): void => undefined;
  try {
    return await new Promise<T>((resolve, reject) => {
      detach = onAbort(signal, () => reject(abortReason(signal) as Error));
      work.then(resolve, reject);
    });
  } finally {
    detach();
  }
}

/** Combines several signals (`AbortSignal.any` is not available everywhere). Call `dispose` to remove the listeners. */
export function followAll(signals: readonly (AbortSignal | undefined)[]): {
  readonly signal: AbortSignal;
  readonly dispose: () => void;
} {
  const controller = new AbortController();
  const detach = signals.map((signal) =>
    onAbort(signal, () => controller.abort(signal === undefined ? undefined : abortReason(signal))),
  );
  return { signal: controller.signal, dispose: () => detach.forEach((off) => off()) };
}

export async function pause(clock: ClientClock, ms: number, signal: AbortSignal | undefined): Promise<void> {
  throwIfAborted(signal);
  let off: (() => void)[] = [];
  try {
    await new Promise<void>((resolve, reject) => {
      off = [
        clock.after(ms, resolve),
        onAbort(signal, () => reject(signal === undefined ? undefined : (abortReason(signal) as Error))),
      ];
    });
  } finally {
    for (const detach of off) detach();
  }
}
