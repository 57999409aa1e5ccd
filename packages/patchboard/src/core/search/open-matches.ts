import { timesSoFar } from '../call/call-times.ts';
import { isOpen, type Call } from '../call/call.ts';
import type { Lifecycle } from '../call/lifecycle.ts';
import type { Peers } from '../peers.ts';
import type { Clock, Store } from '../ports.ts';
import type { CallCriteria, CallSort } from './call-search.ts';
import { matchesCriteria } from './criteria.ts';
import { searchedCall } from './indexed-rows.ts';
import { canBeOpen } from './list-criteria.ts';
import { compareFound, sortValue, type FoundOpenCall } from './sorted-calls.ts';

export interface OpenMatchesParts {
  readonly store: Pick<Store, 'openCalls'>;
  readonly peers: Pick<Peers, 'isSingle'>;
  readonly lifecycle: Pick<Lifecycle, 'all'>;
  readonly clock: Pick<Clock, 'turn'>;
}

export interface OpenMatches {
  readonly found: readonly FoundOpenCall[];
  /** False: there are more open calls than one request reads. */
  readonly isComplete: boolean;
}

/** Open calls of all nodes that one request reads. Those of this node alone are in memory, and are not limited. */
const MAX_READ = 10_000;
/** Calls compared before yielding to the event loop. */
const TURN = 500;

/** Finds the open calls that match, in the order of the list, with their durations up to `now`. */
export async function openMatches(
  parts: OpenMatchesParts,
  criteria: CallCriteria,
  sort: CallSort,
  now: number,
): Promise<OpenMatches> {
  if (!canBeOpen(criteria)) return { found: [], isComplete: true };
  const found: FoundOpenCall[] = [];
  let read = 0;
  for await (const call of openCalls(parts, criteria)) {
    if (read >= MAX_READ && !parts.peers.isSingle) return { found: sorted(found, sort), isComplete: false };
    read += 1;
    if (read % TURN === 0) await parts.clock.turn();
    const { waitedMs, ranMs } = timesSoFar(call, now);
    if (!matchesCriteria({ ...searchedCall(call), waitedMs, ranMs }, criteria)) continue;
    // Calls of all nodes were read for this request: together they may be larger than the memory.
    const kept = parts.peers.isSingle ? call : null;
    found.push({ id: call.id, value: sortValue(call, sort, now), call: kept });
  }
  return { found: sorted(found, sort), isComplete: true };
}

/** The open calls of the tenant. On a single node all of them are live in this process. */
function openCalls(
  { store, peers, lifecycle }: OpenMatchesParts,
  { tenant, runId }: CallCriteria,
): AsyncIterable<Call> | Iterable<Call> {
  if (!peers.isSingle) return store.openCalls(runId === undefined ? { tenant } : { tenant, runId });
  const live = lifecycle.all().map(({ call }) => call);
  return live.filter((call) => isOpen(call) && call.tenant === tenant);
}

function sorted(found: FoundOpenCall[], sort: CallSort): readonly FoundOpenCall[] {
  return found.sort((one, other) => compareFound(one, other, sort));
}
