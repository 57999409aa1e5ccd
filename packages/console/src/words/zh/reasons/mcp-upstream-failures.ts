import type { McpUpstreamFailures, Sentences } from '@patchboard/wire';

export const mcpUpstreamFailures: Sentences<McpUpstreamFailures> = {
  upstream_hops: ({ upstream, hops }) =>
    `调用已经过 ${hops} 个网关，因此不再发给上游 ${upstream}：请检查网关是否互为上游`,
  upstream_not_reached: ({ upstream, error }) => `无法连接上游 ${upstream}：${error}`,
  upstream_refused: ({ upstream, status, error }) =>
    `上游 ${upstream} 以 HTTP 状态 ${status} 拒绝了请求：${error}`,
  upstream_connection_lost: ({ upstream, error }) => `上游 ${upstream} 没有响应，调用可能已经生效：${error}`,
  upstream_response_too_large: ({ upstream, error }) =>
    `上游 ${upstream} 的响应太大，调用可能已经生效：${error}`,
  upstream_result_invalid: ({ upstream }) => `上游 ${upstream} 返回的不是 MCP 的结果，调用可能已经生效`,
  upstream_error: ({ upstream, code, error }) => `上游 ${upstream} 返回错误 ${code}：${error}`,
  upstream_task_cancelled: ({ upstream }) => `任务在上游 ${upstream} 被取消`,
  upstream_task_lost: ({ upstream, error }) => `上游 ${upstream} 已没有该任务，它可能已经生效：${error}`,
  upstream_may_not_ask: ({ upstream, kind }) =>
    `上游 ${upstream} 请求的输入（${kind}）不在其设置允许之列：见 \`input_requests\` 和 \`sampling\``,
  upstream_asks_unknown: ({ upstream, method }) => `上游 ${upstream} 以未知的方法请求输入：${method}`,
  upstream_tool_without_schema: ({ upstream }) => `上游 ${upstream} 列出的工具没有对象形式的输入 schema`,
  upstream_tool_needs_tasks: ({ upstream }) =>
    `该工具只能作为 MCP 2025-11-25 的任务运行，这里不支持；上游 ${upstream} 需要提供 MCP 2026-07-28`,
  upstream_tool_loop: ({ upstream }) => `该工具来自本服务器：上游 ${upstream} 又经由它自己的上游连到这里`,
  upstream_tools_omitted: ({ upstream, count }) =>
    `上游 ${upstream} 的工具超出上限 ${count} 个：请用 \`tools\` 排除一些`,
};
