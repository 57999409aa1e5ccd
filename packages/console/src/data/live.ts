import { isCallStateEvent } from '@patchboard/client';
import { isTerminal, type StreamEvent } from '@patchboard/wire';
import type { Query } from '@tanstack/vue-query';
import { reactive, readonly, watch } from 'vue';
import { HubConnection } from '../live/hub-connection.ts';
import type { HubMessage, LiveState } from '../live/hub-messages.ts';
import { failureWords } from '../failure-texts.ts';
import { subscription, tenant } from './connection.ts';
import { queryClient } from './query-client.ts';
import { checkSession, may } from './session.ts';

const SETTLE_MS = 300;
/** A stream that does not open, as behind a proxy that buffers, must not keep the page blank. */
const OPEN_MS = 1000;

const live = reactive({
  state: 'connecting' as LiveState,
  /** When the shown data was last up to date. */
  trueAt: Date.now(),
  problem: '',
});

/** The connection status of the page. */
export const liveness = readonly(live);

const listeners = new Set<(event: StreamEvent) => void>();

/** Calls the listener with each event once, in order. Returns a function that removes it. */
export function onEvent(listener: (event: StreamEvent) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

const resumeListeners = new Set<() => void>();

/** Called after a reconnect: data read before may be stale. */
export function onResume(listener: () => void): () => void {
  resumeListeners.add(listener);
  return () => resumeListeners.delete(listener);
}

/** Whether pages may have read data before the stream was open. */
let hasRead = false;

/**
 * Resolves when the stream is open or cannot be opened now. What is read after that misses no event; what is read before
 * must be read again.
 */
export async function untilFollowing(): Promise<void> {
  if (may('readCalls')) {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(end, OPEN_MS);
      const stop = watch(
        () => live.state,
        (state) => {
          if (state === 'live' || state === 'lost') end();
        },
      );
      function end(): void {
        clearTimeout(timer);
        stop();
        resolve();
      }
    });
  }
  hasRead = true;
}

/** Follows the event stream while the page is shown. */
export function followServer(): void {
  const connection = new HubConnection({
    onMessage: receive,
    onLeft: (why) => become(why === 'hidden' ? 'paused' : 'lost', ''),
  });
  connection.start();
  watch(
    () => (may('readCalls') ? subscription.value : null),
    (now) => connection.follow(now),
    { immediate: true },
  );
}

function receive(message: HubMessage): void {
  if (message.kind === 'event') {
    live.trueAt = Date.now();
    for (const listener of listeners) listener(message.event);
    refresh(message.event);
    return;
  }
  const { state, problem, isNew } = message;
  const isResumed = state === 'live' && (isNew || live.state !== 'live');
  become(state, problem === null ? '' : failureWords(problem));
  if (isResumed && hasRead) resume();
  // The key of the session was revoked, or the server has restarted.
  if (problem?.code === 'auth_required') checkSession();
}

function become(state: LiveState, problem: string): void {
  if (live.state === 'live' || state === 'live') live.trueAt = Date.now();
  live.state = state;
  live.problem = problem;
}

function resume(): void {
  for (const listener of resumeListeners) listener();
  readAgain().catch(() => undefined);
}

/** Lists that catch up by themselves, once loaded. */
const FOLLOWED: readonly unknown[] = ['calls', 'runs', 'run-calls', 'trace-calls'];

/** Refetches all other queries after missed events. */
async function readAgain(): Promise<void> {
  const old = {
    predicate: ({ queryKey, state }: Query): boolean =>
      !FOLLOWED.includes(queryKey[2]) || state.data === undefined,
  };
  await queryClient.cancelQueries({ ...old, fetchStatus: 'fetching' });
  await queryClient.invalidateQueries(old);
}

/** Which queries an event invalidates. Events in a row cause one refetch. */
const TOUCHED: Readonly<Record<string, readonly string[]>> = {
  'call.state': ['stats', 'recent-calls'],
  permission_required: ['approvals', 'stats'],
  permission_decided: ['approvals', 'stats', 'grants'],
  'registry.changed': ['tools', 'stats', 'policy', 'upstreams'],
  'resources.changed': ['resources', 'resource-read'],
  'prompts.changed': ['resources', 'resource-read'],
  'device.changed': ['devices', 'tools', 'policy', 'stats'],
  'upstream.changed': ['upstreams', 'stats'],
};

const pending = new Set<string>();
let timer: ReturnType<typeof setTimeout> | undefined;

function refresh(event: StreamEvent): void {
  for (const name of TOUCHED[event.type] ?? []) pending.add(name);
  // A waiting call may end without an operator's decision.
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
