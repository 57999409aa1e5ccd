import { isCallStateEvent } from '@patchboard/client';
import type { CallStateEvent } from '@patchboard/wire';
import { onScopeDispose } from 'vue';
import { onEvent, onResume } from './live.ts';

/** Longer than the search index is behind the store, as a rule: counts of ended calls come from it. */
const AFTERWARDS_MS = 2500;

/** Calls `listener` with the state changes of calls in batches, one each `everyMs` at most. */
export function onCallMoves(everyMs: number, listener: (moves: readonly CallStateEvent[]) => void): void {
  let waiting: CallStateEvent[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  const stop = onEvent((event) => {
    if (!isCallStateEvent(event)) return;
    waiting.push(event.data);
    timer ??= setTimeout(() => {
      timer = undefined;
      const moves = waiting;
      waiting = [];
      listener(moves);
    }, everyMs);
  });
  onScopeDispose(() => {
    stop();
    clearTimeout(timer);
  });
}

/**
 * Returns a function that requests a read: reads follow each other by `everyMs` at least, and one more follows the last
 * request. A reconnect of the event stream requests one too.
 */
export function usePacedRead(everyMs: number, read: () => Promise<void>): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let lastTimer: ReturnType<typeof setTimeout> | undefined;
  const start = (): void => void read().catch(() => undefined);
  const request = (): void => {
    timer ??= setTimeout(() => {
      timer = undefined;
      start();
    }, everyMs);
    clearTimeout(lastTimer);
    lastTimer = setTimeout(start, everyMs + AFTERWARDS_MS);
  };
  const stop = onResume(request);
  onScopeDispose(() => {
    stop();
    clearTimeout(timer);
    clearTimeout(lastTimer);
  });
  return request;
}
