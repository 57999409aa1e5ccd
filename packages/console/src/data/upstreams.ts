import { useQuery } from '@tanstack/vue-query';
import type { UpstreamView } from '@patchboard/wire';
import { client } from './connection.ts';
import { may } from './session.ts';
import { keyOf, type QueryResult } from './queries.ts';

/** Calls in flight and latency change without an event. */
const REFRESH_MS = 5000;

/** `isFollowed`: also reads the values that change without an event. */
export function useUpstreams({ isFollowed = false } = {}): QueryResult<UpstreamView[]> {
  return useQuery({
    queryKey: keyOf('upstreams'),
    queryFn: ({ signal }) => client.value.upstreams({ signal }),
    enabled: () => may('readUpstreams'),
    refetchInterval: isFollowed ? REFRESH_MS : false,
  });
}
