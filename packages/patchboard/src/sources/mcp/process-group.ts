import type { Clock } from '../../core/ports.ts';
import { withTimeLimit } from '../../core/time-limit.ts';

/** How long a process may take to end after its input was closed, and after SIGTERM. */
const CLOSE_MS = 300;
const TERMINATE_MS = 2_000;
const CHECK_EVERY_MS = 20;

/**
 * Ends all processes of a group, after the input of the first one was closed: waits shortly until that one exits (`exited`), then sends
 * SIGTERM, then SIGKILL. Processes that left the group are not ended.
 */
export async function endProcessGroup(pid: number, clock: Clock, exited: Promise<void>): Promise<void> {
  await withTimeLimit(clock, CLOSE_MS, exited, () => {});
  if (!signalGroup(pid, 'SIGTERM')) return;
  const end = clock.elapsed() + TERMINATE_MS;
  while (clock.elapsed() < end && signalGroup(pid, 0))
    await new Promise<void>((resolve) => void clock.after(CHECK_EVERY_MS, resolve));
  signalGroup(pid, 'SIGKILL');
}

/** Returns false if the group is empty, or all its processes belong to another user. */
function signalGroup(pid: number, signal: 'SIGTERM' | 'SIGKILL' | 0): boolean {
  try {
    return process.kill(-pid, signal);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (code !== 'ESRCH' && code !== 'EPERM') throw error;
    return false;
  }
}
