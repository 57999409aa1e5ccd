import type { Call } from './call.ts';
import { Stop } from './stop.ts';

/** What this process holds of a call that has not ended. */
export interface LiveCall {
  /** The last committed version. */
  call: Call;
  readonly stop: Stop;
  /** Calls off the deadline that is armed. */
  disarm: () => void;
  /** Gives back the slot it holds, or leaves the line it stands in. */
  release: () => void;
  /** A client may have seen it: it can no longer be said that it certainly did not start. */
  pushed: boolean;
}

export function liveCall(call: Call): LiveCall {
  return { call, stop: new Stop(), disarm: nothing, release: nothing, pushed: false };
}

export function nothing(): void {
  // Nothing is armed or held.
}
