import { ANNOUNCE_MS } from '../../../src/cluster/timing.ts';
import type { World } from '../world.ts';
import { latenessIn } from './undisturbed.ts';

/** A node that has started is known to the others within this time. */
const KNOWN_MS = 1500;

/** A change of documents that a response has acknowledged; times are simulated milliseconds. */
export interface AcknowledgedChange {
  readonly requestedAt: number;
  readonly at: number;
}

/** Returns how long after its acknowledgement every node must have noticed the change, as seen by a request at `until`. */
export function noticedWithin(world: World, { requestedAt, at }: AcknowledgedChange, until: number): number {
  // A single node applies a change before it acknowledges it.
  if (world.nodes.length === 1) return 0;
  const lateness = latenessIn(world);
  if (lateness === null) return Infinity;
  // The acknowledgement did not wait so long that it could have given up: every node has confirmed the change.
  const isConfirmed = at - requestedAt < ANNOUNCE_MS && lateness.isCalm(requestedAt, until, KNOWN_MS);
  return isConfirmed ? 0 : lateness.bound(at, until);
}
