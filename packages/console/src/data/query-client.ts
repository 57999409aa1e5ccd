import { PatchboardError } from '@patchboard/client';
import { QueryClient } from '@tanstack/vue-query';

/** The client itself repeats what is safe to repeat; events tell what has changed. */
export const queryClient: QueryClient = new QueryClient({
  defaultOptions: {
    queries: { retry: false, staleTime: 30_000, networkMode: 'always', refetchOnWindowFocus: true },
    mutations: { retry: false, networkMode: 'always' },
  },
});

/** Only an operator may see this, and nobody is signed in as one. */
export function needsOperator(error: unknown): boolean {
  return error instanceof PatchboardError && (error.status === 403 || error.status === 401);
}
