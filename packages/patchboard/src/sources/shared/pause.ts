import type { Clock } from '../../core/ports.ts';

/** Resolves after `ms`. Rejects with the reason of the signal as soon as it is aborted. */
export async function pause(clock: Pick<Clock, 'after'>, ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  await new Promise<void>((resolve, reject) => {
    const onAbort = (): void => {
      disarm();
      reject(signal.reason as Error);
    };
    const disarm = clock.after(ms, () => {
      signal.removeEventListener('abort', onAbort);
      resolve();
    });
    signal.addEventListener('abort', onAbort, { once: true });
  });
}
