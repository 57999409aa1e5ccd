import type { Platform } from '../wiring/platform.ts';

/** Why a server stops. */
export type StopReason = { readonly signal: string } | { readonly fenced: string };

/** Resolves on SIGTERM, SIGINT or SIGHUP, with `stopWithStdin` at the end of stdin, or if the platform is fenced. */
export function stopReason(
  stopWithStdin: boolean,
  platform: Pick<Platform, 'onFenced' | 'endDrainDelay'>,
): Promise<StopReason> {
  const names = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;
  return new Promise((resolve) => {
    const release = (): void => {
      for (const one of names) process.off(one, stop);
      if (stopWithStdin) process.stdin.off('close', stdinClosed);
    };
    // A second signal ends the drain delay; without one, or then, the process ends immediately.
    const again = (signal: (typeof names)[number]): void => {
      // A terminal that is closed may send it twice: once by itself, once by its shell.
      if (signal === 'SIGHUP') return;
      if (platform.endDrainDelay()) return;
      if (signal === 'SIGINT') process.exit(130);
      process.off(signal, again);
      process.kill(process.pid, signal);
    };
    const stop = (signal: string): void => {
      release();
      for (const name of names) process.on(name, again);
      resolve({ signal });
    };
    const stdinClosed = (): void => stop('stdin');
    platform.onFenced((problem) => {
      release();
      resolve({ fenced: problem });
    });
    for (const name of names) process.once(name, stop);
    if (stopWithStdin) process.stdin.once('close', stdinClosed).resume();
  });
}
