import { BEAT_EVERY_MS } from '../../../src/cluster/timing.ts';
import type { CallView, TestCluster, TestNode } from './a-node.ts';

export interface Moment {
  readonly at: number;
  readonly beat: number;
}

/** The present time, and the number of heartbeats that `node` has written. */
export async function momentOf(cluster: TestCluster, node: TestNode): Promise<Moment> {
  const [row] = await cluster.query('select beat from writers where url = $1', [node.url]);
  if (row === undefined) throw new Error(`no node has the URL ${node.url}`);
  return { at: Date.now(), beat: Number(row['beat']) };
}

/**
 * Milliseconds from the moment to the recorded end of the call. On a machine that is too busy, `node` writes its heartbeats
 * more slowly than it should: then its heartbeats count, at the time that each should take.
 */
export async function msUntilEnd(
  cluster: TestCluster,
  node: TestNode,
  since: Moment,
  call: CallView,
): Promise<number> {
  const { beat } = await momentOf(cluster, node);
  return Math.min(endOf(call) - since.at, (beat - since.beat) * BEAT_EVERY_MS);
}

/** When the call ended, by its record. */
export function endOf({ completed_at: isEnded, timeline }: CallView): number {
  const last = timeline.at(-1);
  if (isEnded === null || last === undefined) throw new Error('the call has not ended');
  return Date.parse(last.at);
}
