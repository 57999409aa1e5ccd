import { performance } from 'node:perf_hooks';
import type { Clock } from '../core/ports.ts';

/** Node runs a timer with a longer delay, of 24 days, at once. */
const MAX_DELAY_MS = 2_147_483_647;

export const nodeClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  after: (ms, action) => {
    const timer = setTimeout(action, Math.min(ms, MAX_DELAY_MS));
    return () => clearTimeout(timer);
  },
  turn: () => new Promise((resolve) => void setImmediate(resolve)),
};
