import { readFileSync } from 'node:fs';

/** Elsewhere than on Linux: OPEN_MAX of macOS, to which Node raises its own limit when it starts. */
const FALLBACK_LIMIT = 10_240;
/** Kept for the database, files, child processes and outgoing requests. */
const RESERVED_DESCRIPTORS = 512;

/** How many files, sockets and pipes this process may have open: `ulimit -n`. */
export function descriptorLimit(file = '/proc/self/limits'): number {
  try {
    const [, soft] = /^Max open files\s+(\d+|unlimited)/m.exec(readFileSync(file, 'utf8')) ?? [];
    if (soft === 'unlimited') return Number.MAX_SAFE_INTEGER;
    return soft === undefined ? FALLBACK_LIMIT : Number(soft);
  } catch {
    return FALLBACK_LIMIT;
  }
}

/** How many of the descriptors connections may use. Half of a small limit is kept: tools need them more than waiting clients. */
export function connectionBudget(limit: number): number {
  return limit - Math.min(RESERVED_DESCRIPTORS, Math.ceil(limit / 2));
}
