import { failure, foreignText, StorageUnavailable } from '../failures.ts';
import type { Store } from '../ports.ts';
import { runsInProcess } from './call.ts';
import { nothing, type LiveCall } from './live-call.ts';
import type { BadOutcome } from './outcome.ts';

/** The writes that a lifecycle makes. */
export type CallWrites = Pick<Store, 'insertCall' | 'replaceCall'>;

/** The writes of a fenced process: each one rejects. */
export function fencedWrites(problem: string): CallWrites {
  const refuse = (): Promise<never> => Promise.reject(new StorageUnavailable(problem));
  return { insertCall: refuse, replaceCall: refuse };
}

/** The reason with which a fenced process stops its work. It is not recorded. */
export function fencedOutcome(problem: string): BadOutcome {
  return { kind: 'cancelled', failure: failure('storage_unavailable', foreignText(problem)) };
}

/** Stops the work on a call that a fenced process has forgotten. The call stays as it is stored. */
export function abandon(live: LiveCall, outcome: BadOutcome): void {
  live.ownership = 'lost';
  live.stop.fire(outcome);
  // A client works on, and reports to the process that manages the call then.
  if (runsInProcess(live.call)) live.release();
  live.release = nothing;
}
