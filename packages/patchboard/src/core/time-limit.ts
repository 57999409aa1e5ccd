import type { Clock } from './ports.ts';

/** Settles as `work` does, or resolves with the value of `late()` after `ms`. Clears the timer either way. */
export async function withTimeLimit<T>(
  clock: Clock,
  ms: number,
  work: Promise<T>,
  late: () => T,
): Promise<T> {
  let disarm = (): void => {};
  try {
    return await new Promise<T>((resolve, reject) => {
      disarm = clock.after(ms, () => resolve(late()));
      work.then(resolve, reject);
    });
  } finally {
    disarm();
  }
}
