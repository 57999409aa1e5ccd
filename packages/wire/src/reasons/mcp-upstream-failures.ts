import type { Sentences } from './reason.ts';

/** Why a tool of an upstream MCP server is not offered, or a call of it failed. `upstream`: its name. */
export interface McpUpstreamFailures {
  readonly upstream_hops: { readonly upstream: string; readonly hops: number };
  readonly upstream_not_reached: { readonly upstream: string; readonly error: string };
  readonly upstream_refused: { readonly upstream: string; readonly status: number; readonly error: string };
  readonly upstream_connection_lost: { readonly upstream: string; readonly error: string };
  readonly upstream_response_too_large: { readonly upstream: string; readonly error: string };
  readonly upstream_result_invalid: { readonly upstream: string };
  readonly upstream_error: { readonly upstream: string; readonly code: number; readonly error: string };
  readonly upstream_task_cancelled: { readonly upstream: string };
  readonly upstream_task_lost: { readonly upstream: string; readonly error: string };
  readonly upstream_may_not_ask: { readonly upstream: string; readonly kind: string };
  readonly upstream_asks_unknown: { readonly upstream: string; readonly method: string };
  readonly upstream_tool_without_schema: { readonly upstream: string };
  readonly upstream_tool_needs_tasks: { readonly upstream: string };
  readonly upstream_tool_loop: { readonly upstream: string };
  readonly upstream_tools_omitted: { readonly upstream: string; readonly count: number };
}

export const MCP_UPSTREAM_FAILURES: Sentences<McpUpstreamFailures> = {
  upstream_hops: ({ upstream, hops }) =>
    `${hops} gateways have passed the call on, so it is not sent to upstream ${upstream}: check whether gateways are upstreams of each other`,
  upstream_not_reached: ({ upstream, error }) => `upstream ${upstream} cannot be reached: ${error}`,
  upstream_refused: ({ upstream, status, error }) =>
    `upstream ${upstream} refused the request with HTTP status ${status}: ${error}`,
  upstream_connection_lost: ({ upstream, error }) =>
    `upstream ${upstream} sent no response, and the call may have taken effect: ${error}`,
  upstream_response_too_large: ({ upstream, error }) =>
    `the response of upstream ${upstream} is too large, and the call may have taken effect: ${error}`,
  upstream_result_invalid: ({ upstream }) =>
    `upstream ${upstream} sent a result that is not one of MCP, and the call may have taken effect`,
  upstream_error: ({ upstream, code, error }) => `upstream ${upstream} returned error ${code}: ${error}`,
  upstream_task_cancelled: ({ upstream }) => `the task was cancelled at upstream ${upstream}`,
  upstream_task_lost: ({ upstream, error }) =>
    `upstream ${upstream} no longer has the task, which may have taken effect: ${error}`,
  upstream_may_not_ask: ({ upstream, kind }) =>
    `upstream ${upstream} requested input (${kind}) that its settings do not allow: see \`input_requests\` and \`sampling\``,
  upstream_asks_unknown: ({ upstream, method }) =>
    `upstream ${upstream} requested input with an unknown method: ${method}`,
  upstream_tool_without_schema: ({ upstream }) =>
    `upstream ${upstream} listed the tool without an input schema that is an object`,
  upstream_tool_needs_tasks: ({ upstream }) =>
    `the tool runs only as a task of MCP 2025-11-25, which is not supported; upstream ${upstream} must offer MCP 2026-07-28`,
  upstream_tool_loop: ({ upstream }) =>
    `the tool comes from this server: upstream ${upstream} reaches it through its own upstreams`,
  upstream_tools_omitted: ({ upstream, count }) =>
    `upstream ${upstream} lists ${count} more tools than the limit: exclude some with \`tools\``,
};
