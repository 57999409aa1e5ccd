import { existsSync, readFileSync } from 'node:fs';

/** Returns whether a process is running; false for a zombie. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    if (!existsSync('/proc/self/stat')) return true;
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}
