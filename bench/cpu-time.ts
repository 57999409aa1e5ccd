import { readFileSync } from 'node:fs';

/** Linux reports CPU time in hundredths of a second. */
const TICK_US = 10_000;

/** CPU time of a process in microseconds: user and system time of all threads. */
export function cpuTimeOf(pid: number): number {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    throw new Error('this figure reads CPU times from /proc, which only Linux has');
  }
  // The process name in parentheses may contain any character; only numbers follow it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * TICK_US;
}
