import { isCallStateEvent } from '@patchboard/client';
import { isTerminal, type StreamEvent } from '@patchboard/wire';
import { reactive, readonly, watch } from 'vue';
import { messageOf } from '../said.ts';
import { client, tenant } from './connection.ts';
import { queryClient } from './query-client.ts';

export type LiveState = 'connecting' | 'live' | 'lost';

const RETRY_MS = 3000;
const SETTLE_MS = 300;

const live = reactive({
  state: 'connecting' as LiveState,
  /** When what is shown was last known to be true. */
  trueAt: Date.now(),
  problem: '',
});

/** The truth about how true the page is. */
export const liveness = readonly(live);

const listeners = new Set<(event: StreamEvent) => void>();

/** Each event once, in order. The answer takes the listener off. */
export function onEvent(listener: (event: StreamEvent) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

const resumeListeners = new Set<() => void>();

/** Called when the stream is back after it was lost: what was read before may be old. */
export function onResume(listener: () => void): () => void {
  resumeListeners.add(listener);
  return () => resumeListeners.delete(listener);
}

/** Follows the server for as long as the page is open. */
export function followServer(): void {
  watch(
    client,
    (_now, _before, onCleanup) => {
      const stop = new AbortController();
      onCleanup(() => stop.abort());
      follow(stop.signal).catch((error: unknown) => {
        live.problem = messageOf(error);
      });
    },
    { immediate: true },
  );
}

async function follow(signal: AbortSignal): Promise<void> {
  let after: string | undefined;
  while (!signal.aborted) {
    try {
      const options = { signal, onConnection, ...(after === undefined ? {} : { after }) };
      for await (const event of client.value.events(options)) {
        after = event.id ?? after;
        live.trueAt = Date.now();
        for (const listener of listeners) listener(event);
        refresh(event);
      }
    } catch (error) {
      if (signal.aborted) return;
      live.state = 'lost';
      live.problem = messageOf(error);
    }
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
}

function onConnection(state: 'open' | 'lost'): void {
  if (state === 'lost') {
    if (live.state === 'live') live.trueAt = Date.now();
    live.state = 'lost';
    return;
  }
  const wasLost = live.state === 'lost';
  live.state = 'live';
  live.problem = '';
  live.trueAt = Date.now();
  if (!wasLost) return;
  for (const listener of resumeListeners) listener();
  // Lists of calls catch up by themselves: they may be hundreds of pages long.
  queryClient
    .invalidateQueries({ predicate: ({ queryKey }) => queryKey[2] !== 'calls' })
    .catch(() => undefined);
}

/** Which queries an event makes old. Many events in a row are one reason to ask again. */
const TOUCHED: Readonly<Record<string, readonly string[]>> = {
  'call.state': ['stats', 'recent-calls'],
  permission_required: ['approvals', 'stats'],
  permission_decided: ['approvals', 'stats', 'grants'],
  'registry.changed': ['tools', 'stats'],
  'device.changed': ['devices', 'tools'],
};

const pending = new Set<string>();
let timer: ReturnType<typeof setTimeout> | undefined;

function refresh(event: StreamEvent): void {
  for (const name of TOUCHED[event.type] ?? []) pending.add(name);
  // A call that waited may end without a word of an operator.
  if (isCallStateEvent(event) && isTerminal(event.data.state)) pending.add('approvals');
  timer ??= setTimeout(() => {
    timer = undefined;
    const names = [...pending];
    pending.clear();
    queryClient
      .invalidateQueries({
        predicate: ({ queryKey }) => queryKey[0] === tenant.value && names.includes(String(queryKey[2])),
      })
      .catch(() => undefined);
  }, SETTLE_MS);
}
