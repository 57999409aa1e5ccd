import { readdirSync, readFileSync } from 'node:fs';

/** Processes of the machine whose command line contains `mark`, except the search itself. */
export function processesWith(mark: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => pid !== process.pid && commandLine(pid).includes(mark));
}

function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return ''; // gone in the meantime
  }
}

/** A unique number for a `sleep` command, to find its process. */
export function aMark(): string {
  return `3${String(Math.random()).slice(2, 12)}`;
}
