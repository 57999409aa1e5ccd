import type { Store } from '../ports.ts';
import type { Call } from './call.ts';
import type { Lifecycle } from './lifecycle.ts';
import type { Waiters, WaitOptions } from './waiters.ts';

export interface WaitElsewhereParts {
  readonly store: Store;
  readonly lifecycle: Lifecycle;
  readonly waiters: Waiters;
  /** Called with the current row of a call that another node holds: see `LifecycleParts.movedElsewhere`. */
  readonly movedElsewhere: (call: Call) => void;
}

/**
 * As `Waiters.wait`, for a call that another node may hold: registers the wait before it reads the call, so that no move
 * falls between.
 */
export async function waitElsewhere(
  { store, lifecycle, waiters, movedElsewhere }: WaitElsewhereParts,
  call: Call,
  ms: number,
  options: WaitOptions,
): Promise<Call | null> {
  const waiting = waiters.wait(call, ms, options);
  const current = await store.findCall(call.id);
  if (current === undefined) waiters.abandon(call.id);
  else if (lifecycle.find(call.id) === undefined) movedElsewhere(current);
  return await waiting;
}
