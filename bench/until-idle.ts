import { setTimeout as sleep } from 'node:timers/promises';
import { cpuTimeOf } from './cpu-time.ts';

const POLL_MS = 150;
/** Timers and keep-alive take less. */
const IDLE_SHARE = 0.1;
/** Longer than the pauses in which an index gathers what it writes next. */
const IDLE_POLLS = 3;
const LIMIT_MS = 60_000;

/**
 * Resolves when the process takes almost no CPU time: a server works on after its load, on its index or its garbage, and must
 * not do that during the load of another one.
 */
export async function untilIdle(pid: number): Promise<void> {
  const end = performance.now() + LIMIT_MS;
  let before = cpuTimeOf(pid);
  for (let idlePolls = 0; performance.now() < end;) {
    await sleep(POLL_MS);
    const now = cpuTimeOf(pid);
    idlePolls = now - before <= POLL_MS * 1000 * IDLE_SHARE ? idlePolls + 1 : 0;
    if (idlePolls === IDLE_POLLS) return;
    before = now;
  }
  throw new Error(`process ${pid} is still busy ${LIMIT_MS / 1000} s after its load`);
}
