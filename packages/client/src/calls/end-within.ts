import type { CallView, TimelineEntryView } from '@patchboard/wire';
import type { PatchboardClient } from '../client.ts';
import { TimeoutError } from '../errors.ts';
import { isEnded } from './calls.ts';

/** While an approval is awaited, the call is looked at no more often than that. */
const LEAST_WAIT_MS = 1000;

/**
 * Waits until the call has ended; null when it took longer than `timeoutMs`. Time in which it waits for an approval
 * does not count: how long that may take is for the operators to say.
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
        ? Math.max(timeoutMs, LEAST_WAIT_MS)
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

/** By the server's clock alone, so that the two need not agree. */
function approvalMs(timeline: readonly TimelineEntryView[]): number {
  let total = 0;
  timeline.forEach(({ state, at }, index) => {
    const next = timeline[index + 1];
    if (state === 'APPROVAL_REQUIRED' && next !== undefined) total += Date.parse(next.at) - Date.parse(at);
  });
  return total;
}
