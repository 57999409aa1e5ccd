import type { Sandbox } from '../../../src/core/sandbox.ts';
import { processesWith } from './processes.ts';

/** Refusals of the kernel to wait for: by then the bomb has been at its limit for a while. */
const REFUSALS = 20;

/** Runs a fork bomb until it cannot fork, and cancels it. Returns the maximum number of its processes. */
export async function forkBomb(sandbox: Sandbox, mark: string): Promise<number> {
  const stop = new AbortController();
  let refusals = 0;
  let most = 0;
  const bomb = sandbox.exec(`bomb() { setsid sleep ${mark} & bomb | bomb & }; bomb; wait; sleep ${mark}`, {
    timeoutMs: 50_000,
    signal: stop.signal,
    onOutput: (_stream, text) => {
      most = Math.max(most, processesWith(mark).length);
      refusals += text.split('Resource temporarily unavailable').length - 1;
      if (refusals >= REFUSALS) stop.abort(new Error('at its limit'));
    },
  });
  await bomb.then(
    () => Promise.reject(new Error('the fork bomb ended by itself')),
    (error: unknown) => {
      if (error !== stop.signal.reason) throw error;
    },
  );
  return most;
}
