import { readFileSync } from 'node:fs';

/** For systems other than Linux: OPEN_MAX of macOS, to which Node raises its own limit at startup. */
const FALLBACK_LIMIT = 10_240;
/** Descriptors kept free for the database, files, child processes and outgoing requests. */
const RESERVED_DESCRIPTORS = 512;

/** Returns how many files, sockets and pipes this process may have open: `ulimit -n`. */
export function descriptorLimit(file = '/proc/self/limits'): number {
  try {
    const [, soft] = /^Max open files\s+(\d+|unlimited)/m.exec(readFileSync(file, 'utf8')) ?? [];
    if (soft === 'unlimited') return Number.MAX_SAFE_INTEGER;
    return soft === undefined ? FALLBACK_LIMIT : Number(soft);
  } catch {
    return FALLBACK_LIMIT;
  }
}

/** Returns how many descriptors connections may use. Of a small limit, half stays reserved: tools take precedence over idle clients. */
export function connectionBudget(limit: number): number {
  return limit - Math.min(RESERVED_DESCRIPTORS, Math.ceil(limit / 2));
}
