import type { UpstreamView } from '@patchboard/wire';
import type { SeenUpstream } from './tool-report.ts';

/** Returns the upstream of a server's view. */
export function seenIn({
  name,
  state,
  protocol,
  last_error: lastError,
  tools,
  rejected,
}: UpstreamView): SeenUpstream {
  return { name, state, protocol, lastError: lastError?.message ?? null, tools, rejected };
}
