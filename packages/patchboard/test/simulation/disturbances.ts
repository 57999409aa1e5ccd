import type { History } from './history.ts';

/** A time in which something was wrong with a node or with the store, in simulated milliseconds. */
export interface Disturbance {
  readonly from: number;
  readonly to: number;
}

/** What happens to a node until its next process is ready. */
const DOWN: ReadonlySet<string> = new Set(['start', 'kill', 'stop', 'fenced']);

/** All disturbances of a history: faults of the store, pauses, and the times in which a node had no ready process. */
export function disturbancesOf(history: History): Disturbance[] {
  const found: Disturbance[] = [];
  const down = new Map<string, number>();
  const paused = new Map<string, number>();
  for (const { at, who, what, data } of history.entries) {
    const node = who.split('.')[0] ?? who;
    if (what === 'store' || what === 'cut') found.push({ from: at, to: at + Number(data['ms']) });
    else if (what === 'pause' || what === 'failover') paused.set(who, at);
    else if (what === 'wake') end(found, paused, who, at);
    else if (DOWN.has(what) && !down.has(node)) down.set(node, at);
    else if (what === 'ready') end(found, down, node, at);
  }
  return found;
}

/** How much of the time from `from` to `to` was disturbed. Disturbances at the same time add up. */
export function disturbedMs(disturbances: readonly Disturbance[], from: number, to: number): number {
  return disturbances.reduce(
    (sum, one) => sum + Math.max(0, Math.min(to, one.to) - Math.max(from, one.from)),
    0,
  );
}

function end(found: Disturbance[], begun: Map<string, number>, key: string, to: number): void {
  const from = begun.get(key);
  if (from === undefined) return;
  begun.delete(key);
  found.push({ from, to });
}
