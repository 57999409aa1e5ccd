import { useQuery } from '@tanstack/vue-query';
import type { NodesView } from '@patchboard/wire';
import { client } from './connection.ts';
import { keyOf, type QueryResult } from './queries.ts';

/** Heartbeats, room and takeovers change without an event. */
const REFRESH_MS = 1000;

export function useNodes(): QueryResult<NodesView> {
  return useQuery({
    queryKey: keyOf('nodes'),
    queryFn: ({ signal }) => client.value.nodes({ signal }),
    refetchInterval: REFRESH_MS,
  });
}
