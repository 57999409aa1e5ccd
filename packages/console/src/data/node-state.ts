import type { NodeView } from '@patchboard/wire';

/** A running node without a heartbeat for this time is about to be taken over. */
const SILENT_MS = 2000;

/** The state for people: also `silent`, for a node that does not write its heartbeat any more. */
export function shownNodeState({
  state,
  last_beat_ms: lastBeatMs,
}: Pick<NodeView, 'state' | 'last_beat_ms'>): string {
  return state !== 'free' && lastBeatMs !== null && lastBeatMs > SILENT_MS ? 'silent' : state;
}
