import { readdirSync, readFileSync } from 'node:fs';

/** Processes of the whole machine whose command line holds `mark`, those that only look for it aside. */
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

/** A number that no other command line of this machine holds; `sleep` takes it for a time. */
export function aMark(): string {
  return `3${String(Math.random()).slice(2, 12)}`;
}
