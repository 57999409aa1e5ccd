import type { CallStateName, CallView, TimelineEntryView } from '@patchboard/wire';
import type { PatchboardClient } from '../client.ts';
import { TimeoutError } from '../errors.ts';
import { isEnded } from './call-record.ts';
import type { OnInputRequest } from './input-requests.ts';

/** Minimum poll interval while the call waits for approval or input. */
const MIN_WAIT_MS = 1000;

/**
 * Waits until the call has ended. Returns null after `timeoutMs`, not counting time spent waiting for approval
 * or input, which have their own expiry.
 */
export async function endWithin(
  client: PatchboardClient,
  id: string,
  timeoutMs: number,
  onInputRequest?: OnInputRequest,
): Promise<CallView | null> {
  // The time that the handler takes is not part of a wait's time limit either.
  const uncounted: readonly CallStateName[] =
    onInputRequest === undefined ? ['APPROVAL_REQUIRED', 'INPUT_REQUIRED'] : ['APPROVAL_REQUIRED'];
  let waited = 0;
  for (let waitMs = timeoutMs; waitMs >= 1;) {
    const ended = await endOf(client, id, waitMs, onInputRequest);
    if (ended !== null) return ended;
    waited += waitMs;
    const call = await client.get(id);
    if (isEnded(call)) return call;
    waitMs =
      call.state === 'APPROVAL_REQUIRED' || call.state === 'INPUT_REQUIRED'
        ? Math.max(timeoutMs, MIN_WAIT_MS)
        : timeoutMs - (waited - timeIn(uncounted, call.timeline));
  }
  return null;
}

async function endOf(
  client: PatchboardClient,
  id: string,
  timeoutMs: number,
  onInputRequest: OnInputRequest | undefined,
): Promise<CallView | null> {
  try {
    return await client.wait(id, { timeoutMs, ...(onInputRequest === undefined ? {} : { onInputRequest }) });
  } catch (error) {
    if (error instanceof TimeoutError && error.toolCallId !== null) return null;
    throw error;
  }
}

/** Uses timestamps of the server only, so that clock skew between client and server does not matter. */
function timeIn(states: readonly CallStateName[], timeline: readonly TimelineEntryView[]): number {
  let total = 0;
  timeline.forEach(({ state, at }, index) => {
    const next = timeline[index + 1];
    if (states.includes(state) && next !== undefined) total += Date.parse(next.at) - Date.parse(at);
  });
  return total;
}
