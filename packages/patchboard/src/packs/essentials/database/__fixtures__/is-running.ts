import { existsSync, readFileSync } from 'node:fs';

/** Whether a process still does anything; one that is dead but not yet collected does not. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    if (!existsSync('/proc/self/stat')) return true;
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}
