import { rfc3339, type UpstreamToolView, type UpstreamView } from '@patchboard/wire';
import type { RegisteredTool } from '../../../core/tools/registered-tool.ts';
import type { UpstreamReport } from '../../../core/upstreams/upstream-service.ts';
import { packOf } from '../../../core/upstreams/upstream-tools.ts';

export function upstreamView({
  upstream: { settings },
  status,
  tools,
  rejected,
}: UpstreamReport): UpstreamView {
  const { name, kind, tenants, onChange, concurrency } = settings;
  const { state, protocol, server, address, inFlight, latencyMs, lastError } = status;
  return {
    name,
    kind,
    state,
    protocol,
    server,
    address,
    pack: packOf(settings),
    tenants,
    on_change: onChange,
    concurrency,
    sandboxed: status.isSandboxed ?? null,
    tools: tools.map(toolView),
    rejected,
    in_flight: inFlight,
    latency_ms: latencyMs,
    last_error: lastError === null ? null : { message: lastError.message, at: rfc3339(lastError.at) },
    connected_at: timeOf(status.connectedAt),
    next_attempt_at: timeOf(status.nextAttemptAt),
  };
}

function toolView({ name, version, annotations, contractChange }: RegisteredTool): UpstreamToolView {
  if (contractChange === null) return { name, version, annotations };
  const { from, since, differences } = contractChange;
  return { name, version, annotations, change: { from, since: rfc3339(since), differences } };
}

function timeOf(at: number | null): string | null {
  return at === null ? null : rfc3339(at);
}
