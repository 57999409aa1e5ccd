import { isCallStateEvent, isEnded, PatchboardError } from '@patchboard/client';
import { isTerminal, type CallView } from '@patchboard/wire';
import { client } from './connection.ts';
import { liveness, onEvent, onResume } from './live.ts';

/** Poll interval while the event stream is down. */
const POLL_MS = 3000;

/**
 * Resolves to the call once it has ended, across restarts of the server; after an abort to its current
 * record. It waits on the shared event stream: a long poll in each of six tabs would take every connection
 * that the browser has for this server.
 */
export async function untilEnded(id: string, signal?: AbortSignal): Promise<CallView> {
  for (;;) {
    // Subscribe before reading, so that an end between the two is not missed.
    const chance = nextChance(id, signal);
    try {
      const call = await client.value.get(id);
      if (isEnded(call) || signal?.aborted === true) return call;
      await chance.promise;
    } catch (error) {
      if (!(error instanceof PatchboardError) || !error.retryable || signal?.aborted === true) throw error;
      await chance.promise;
    } finally {
      chance.dispose();
    }
  }
}

interface Chance {
  readonly promise: Promise<void>;
  readonly dispose: () => void;
}

/** Resolves when the call may have ended since, or at the abort. */
function nextChance(id: string, signal: AbortSignal | undefined): Chance {
  let stop: (() => void)[] = [];
  const promise = new Promise<void>((resolve) => {
    const wake = (): void => resolve();
    const timer = setInterval(() => {
      if (liveness.state !== 'live') resolve();
    }, POLL_MS);
    signal?.addEventListener('abort', wake);
    stop = [
      onEvent((event) => {
        const isOwn = isCallStateEvent(event) && event.data.tool_call_id === id;
        if (isOwn && isTerminal(event.data.state)) resolve();
      }),
      onResume(wake),
      () => clearInterval(timer),
      () => signal?.removeEventListener('abort', wake),
    ];
  });
  return { promise, dispose: () => stop.forEach((end) => end()) };
}
