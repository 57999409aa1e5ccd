import type { NodeMeasures, Nodes, NodeStatus } from '../core/nodes.ts';
import type { ClusterHeartbeat } from './cluster-heartbeat.ts';
import type { NodeRow } from './node-table.ts';

/** The nodes as the last heartbeat of this one has found them. */
export function nodeList(heartbeat: ClusterHeartbeat, self: number, measures: () => NodeMeasures): Nodes {
  return {
    list: () =>
      Promise.resolve(heartbeat.nodes.map((row) => statusOf(row, self, heartbeat.lastBeatMs(row.writer)))),
    measures,
  };
}

function statusOf(row: NodeRow, self: number, lastBeatMs: number | null): NodeStatus {
  const { writer, epoch, state, holder, url, version, fingerprint, startedAt, tookOver } = row;
  // A dead node has left what it reported last; its calls are those of another node now.
  const { room, calls } = state === 'free' ? { room: 0, calls: 0 } : row;
  return {
    writer,
    epoch,
    isSelf: writer === self,
    state: state === 'held' ? 'running' : state,
    holder,
    url,
    version,
    fingerprint,
    room,
    calls,
    lastBeatMs,
    startedAt: state === 'free' ? null : startedAt,
    tookOver,
  };
}
