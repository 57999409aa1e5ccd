import { PatchboardError } from '@patchboard/client';
import { CONSOLE_PAGES, type ConsolePageName, type CurrentSessionView } from '@patchboard/wire';
import { useQuery } from '@tanstack/vue-query';
import { computed } from 'vue';
import { mayDo, mayOpen, type Action } from '../rights.ts';
import { currentSession, readCurrentSession, sessionNumber, sessionState } from './connection.ts';
import type { QueryResult } from './queries.ts';
import { queryClient } from './query-client.ts';

/** A server that does not respond must not keep the page blank. */
const LOAD_MS = 3000;

const queryKey = computed(() => ['session', sessionNumber.value] as const);

/** Who is signed in. */
export function useSession(): QueryResult<CurrentSessionView> {
  return useQuery({
    queryKey,
    queryFn: ({ signal }) => readCurrentSession(signal),
    // Signing in has read it.
    initialData: () => currentSession.value ?? undefined,
  });
}

/** Reads who is signed in before the first page is shown, so that it does not show what it then hides. */
export async function loadSession(): Promise<void> {
  const timeout = AbortSignal.timeout(LOAD_MS);
  await queryClient.prefetchQuery({
    queryKey: queryKey.value,
    queryFn: ({ signal }) => readCurrentSession(AbortSignal.any([signal, timeout])),
  });
}

/** The credential was refused: the session may have ended, with its key or with the server. */
export function checkSession(): void {
  queryClient.invalidateQueries({ queryKey: ['session'] }).catch(() => undefined);
}

/** Whether the error means that the credential is not accepted any more. */
export function isRefused(error: unknown): boolean {
  return error instanceof PatchboardError && error.status === 401;
}

/** Whether the session may do it; false until it is known whose session it is. Reactive. */
export function may(action: Action): boolean {
  return sessionState.value !== 'asking' && mayDo(currentSession.value, action);
}

/** Whether the session may open the page. Reactive. */
export function maySee(page: string): boolean {
  return mayOpen(currentSession.value, page);
}

/** The page to begin with. */
export function homePage(): ConsolePageName {
  return CONSOLE_PAGES.find((page) => maySee(page)) ?? 'settings';
}
