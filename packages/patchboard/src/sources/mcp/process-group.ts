import type { Clock } from '../../core/ports.ts';

/** How long a process may take to end after its input was closed, and after SIGTERM. */
const CLOSE_MS = 300;
const TERMINATE_MS = 2_000;
const CHECK_EVERY_MS = 20;

/**
 * Ends all processes of a group: waits shortly for those whose input was closed, then sends SIGTERM, then SIGKILL. Processes that
 * left the group are not ended.
 */
export async function endProcessGroup(pid: number, clock: Clock, isLeaderGone: () => boolean): Promise<void> {
  await untilGone(pid, clock, isLeaderGone() ? 0 : CLOSE_MS, isLeaderGone);
  if (!signalGroup(pid, 'SIGTERM')) return;
  await untilGone(pid, clock, TERMINATE_MS, () => false);
  signalGroup(pid, 'SIGKILL');
}

/** Resolves when the group is empty, `isEnough` returns true, or the time is up. */
async function untilGone(pid: number, clock: Clock, ms: number, isEnough: () => boolean): Promise<void> {
  const end = clock.elapsed() + ms;
  while (clock.elapsed() < end && !isEnough() && signalGroup(pid, 0))
    await new Promise<void>((resolve) => void clock.after(CHECK_EVERY_MS, resolve));
}

/** Returns false if the group is empty, or all its processes belong to another user. */
export function signalGroup(pid: number, signal: 'SIGTERM' | 'SIGKILL' | 0): boolean {
  try {
    return process.kill(-pid, signal);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (code !== 'ESRCH' && code !== 'EPERM') throw error;
    return false;
  }
}
