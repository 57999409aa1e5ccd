import { PatchboardError } from '@patchboard/client';
import { queryTerm, type CallView, type RunView } from '@patchboard/wire';
import { useQuery } from '@tanstack/vue-query';
import { toValue, type MaybeRefOrGetter } from 'vue';
import { client } from './connection.ts';
import { keyOf, type QueryResult } from './queries.ts';

const SHOWN = 20;

/** Whether a run has this id; false if the request fails. */
export async function isRunId(text: string): Promise<boolean> {
  try {
    await client.value.runs.get(text);
    return true;
  } catch (error) {
    if (error instanceof PatchboardError) return false;
    throw error;
  }
}

/** The first open calls of a run; read anew each time it is enabled. */
export function useOpenCalls(
  run: MaybeRefOrGetter<string>,
  isEnabled: MaybeRefOrGetter<boolean>,
): QueryResult<readonly CallView[]> {
  return useQuery({
    queryKey: keyOf('open-calls', run),
    queryFn: async ({ signal }) => {
      const query = `${queryTerm('run', [toValue(run)])} ${queryTerm('state', ['open'])}`;
      return (await client.value.calls({ query, limit: SHOWN, signal }).page()).items;
    },
    enabled: () => toValue(isEnabled),
    staleTime: 0,
    gcTime: 0,
  });
}

/** The newest runs of an agent. */
export function useRecentRunsOfAgent(
  agentId: MaybeRefOrGetter<string>,
  isEnabled: MaybeRefOrGetter<boolean>,
): QueryResult<readonly RunView[]> {
  return useQuery({
    queryKey: keyOf('recent-runs', agentId),
    queryFn: async ({ signal }) => {
      const given = { agentId: toValue(agentId), limit: SHOWN, signal };
      return (await client.value.runs.list(given).page()).items;
    },
    enabled: () => toValue(isEnabled),
    staleTime: 0,
  });
}

/** The newest calls of a tool. */
export function useRecentCallsOfTool(
  toolName: MaybeRefOrGetter<string>,
  isEnabled: MaybeRefOrGetter<boolean>,
): QueryResult<readonly CallView[]> {
  return useQuery({
    queryKey: keyOf('recent-calls-of-tool', toolName),
    queryFn: async ({ signal }) => {
      const given = { toolName: toValue(toolName), limit: SHOWN, signal };
      return (await client.value.calls(given).page()).items;
    },
    enabled: () => toValue(isEnabled),
    staleTime: 0,
  });
}
