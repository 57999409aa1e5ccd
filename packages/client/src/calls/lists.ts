import type {
  CallOrderName,
  CallSortName,
  CallStateName,
  CallStatus,
  CallView,
  LedgerRowView,
  ToolView,
  TraceLedgerView,
} from '@patchboard/wire';
import { decodeCall, decodeLedgerRow, decodeTool, decodeTraceLedger } from '../decode/views.ts';
import type { RequestOptions } from '../http/http.ts';
import type { Settings } from '../http/options.ts';
import { pages, type Pages } from '../http/pages.ts';

export interface CallsFilter extends RequestOptions {
  /** A query such as `tool:weather.* state:failed ran>2s "text in the arguments"`. Other members must match too. */
  readonly query?: string;
  /** Default: `created`. */
  readonly sort?: CallSortName;
  /** Default: `desc`, the newest or longest first. */
  readonly order?: CallOrderName;
  readonly runId?: string;
  readonly toolName?: string;
  readonly agentId?: string;
  readonly status?: CallStatus;
  readonly state?: CallStateName;
  /** Created at or after this time. A string is sent unchanged: RFC 3339, or how long ago, such as `1h`. */
  readonly since?: Date | string;
  /** Created before this time. */
  readonly until?: Date | string;
  /** Rows per page. Default 50, at most 200. */
  readonly limit?: number;
}

export interface LedgerFilter extends RequestOptions {
  readonly traceId?: string;
  readonly toolCallId?: string;
  readonly tenantId?: string;
  readonly from?: Date | string;
  readonly to?: Date | string;
  /** Only rows with a greater `seq`. */
  readonly after?: number;
  readonly limit?: number;
}

export function calls(settings: Settings, filter: CallsFilter): Pages<CallView> {
  const query = {
    query: filter.query,
    sort: filter.sort,
    order: filter.order,
    run_id: filter.runId,
    tool_name: filter.toolName,
    agent_id: filter.agentId,
    status: filter.status,
    state: filter.state,
    since: timeOf(filter.since),
    until: timeOf(filter.until),
    limit: filter.limit,
  };
  return pages(settings, { path: '/v1/tool_calls', plural: 'tool_calls', query, decode: decodeCall }, filter);
}

export function ledger(settings: Settings, filter: LedgerFilter): Pages<LedgerRowView> {
  const query = {
    trace_id: filter.traceId,
    tool_call_id: filter.toolCallId,
    tenant_id: filter.tenantId,
    from: timeOf(filter.from),
    to: timeOf(filter.to),
    after: filter.after,
    limit: filter.limit,
  };
  return pages(settings, { path: '/v1/ledger', plural: 'rows', query, decode: decodeLedgerRow }, filter);
}

/** Returns every call of a trace, oldest first. */
export function traceLedger(
  settings: Settings,
  traceId: string,
  options: RequestOptions,
): Pages<TraceLedgerView> {
  const query = { trace_id: traceId };
  const source = { path: '/v1/trace_ledger', plural: 'trace_ledger', query, decode: decodeTraceLedger };
  return pages(settings, source, options);
}

export async function tools(settings: Settings, options: RequestOptions): Promise<ToolView[]> {
  const all: ToolView[] = [];
  const source = { path: '/v1/tools', plural: 'tools', query: {}, decode: decodeTool };
  for await (const tool of pages(settings, source, options)) all.push(tool);
  return all;
}

export function timeOf(value: Date | string | undefined): string | undefined {
  return value instanceof Date ? value.toISOString() : value;
}
