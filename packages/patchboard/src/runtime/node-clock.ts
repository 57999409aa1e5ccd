import { performance } from 'node:perf_hooks';
import type { Clock } from '../core/ports.ts';

export const nodeClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  after: (ms, action) => {
    const timer = setTimeout(action, ms);
    return () => clearTimeout(timer);
  },
  turn: () => new Promise((resolve) => void setImmediate(resolve)),
};
