import { readFileSync } from 'node:fs';

/** Linux counts in hundredths of a second, whatever the kernel's own clock. */
const TICK_US = 10_000;

/** Microseconds of CPU that a process has used so far, all threads and the kernel's work for it together. */
export function cpuTimeOf(pid: number): number {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    throw new Error('this figure reads CPU times from /proc, which only Linux has');
  }
  // The name in parentheses may hold anything; what follows it are numbers.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * TICK_US;
}
