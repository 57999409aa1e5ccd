import type { CallView, TimelineEntryView } from '@patchboard/wire';
import type { PatchboardClient } from '../client.ts';
import { TimeoutError } from '../errors.ts';
import { isEnded } from './calls.ts';

/** Minimum poll interval while the call waits for approval. */
const MIN_WAIT_MS = 1000;

/**
 * Waits until the call has ended. Returns null after `timeoutMs`, not counting time spent waiting for approval,
 * which has its own expiry.
 */
export async function endWithin(
  client: PatchboardClient,
  id: string,
  timeoutMs: number,
): Promise<CallView | null> {
  let waited = 0;
  for (let waitMs = timeoutMs; waitMs >= 1;) {
    const ended = await endOf(client, id, waitMs);
    if (ended !== null) return ended;
    waited += waitMs;
    const call = await client.get(id);
    if (isEnded(call)) return call;
    waitMs =
      call.state === 'APPROVAL_REQUIRED'
        ? Math.max(timeoutMs, MIN_WAIT_MS)
        : timeoutMs - (waited - approvalMs(call.timeline));
  }
  return null;
}

async function endOf(client: PatchboardClient, id: string, timeoutMs: number): Promise<CallView | null> {
  try {
    return await client.wait(id, { timeoutMs });
  } catch (error) {
    if (error instanceof TimeoutError && error.toolCallId !== null) return null;
    throw error;
  }
}

/** Uses timestamps of the server only, so that clock skew between client and server does not matter. */
function approvalMs(timeline: readonly TimelineEntryView[]): number {
  let total = 0;
  timeline.forEach(({ state, at }, index) => {
    const next = timeline[index + 1];
    if (state === 'APPROVAL_REQUIRED' && next !== undefined) total += Date.parse(next.at) - Date.parse(at);
  });
  return total;
}
