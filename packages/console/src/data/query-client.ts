import { PatchboardError } from '@patchboard/client';
import { QueryClient } from '@tanstack/vue-query';

/** No retries, because the SDK retries what is safe to retry; events invalidate queries. */
export const queryClient: QueryClient = new QueryClient({
  defaultOptions: {
    queries: { retry: false, staleTime: 30_000, networkMode: 'always', refetchOnWindowFocus: true },
    mutations: { retry: false, networkMode: 'always' },
  },
});

/** Whether the error means that an operator must sign in. */
export function needsOperator(error: unknown): boolean {
  return error instanceof PatchboardError && (error.status === 403 || error.status === 401);
}
