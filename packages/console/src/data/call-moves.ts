import { isCallStateEvent } from '@patchboard/client';
import type { CallStateEvent } from '@patchboard/wire';
import { onScopeDispose } from 'vue';
import { onEvent, onResume } from './live.ts';

const SETTLE_MS = 250;

/**
 * Reports changed calls in batches; an empty batch means that the stream has reconnected and any call may
 * have changed.
 */
export function onCallMoves(tell: (moves: readonly CallStateEvent[]) => void): void {
  const waiting = new Map<string, CallStateEvent>();
  let timer: ReturnType<typeof setTimeout> | undefined;

  function settle(): void {
    timer ??= setTimeout(() => {
      timer = undefined;
      const moves = [...waiting.values()];
      waiting.clear();
      tell(moves);
    }, SETTLE_MS);
  }

  const stopListening = onEvent((event) => {
    if (!isCallStateEvent(event)) return;
    waiting.set(event.data.tool_call_id, event.data);
    settle();
  });
  const stopResuming = onResume(settle);
  onScopeDispose(() => {
    stopListening();
    stopResuming();
    clearTimeout(timer);
  });
}
