import type { ToolExecutionResult } from '../protocol.ts';

/** The result of `tools/call` of an MCP server. */
export interface McpToolResult {
  readonly content: readonly [{ readonly type: 'text'; readonly text: string }];
  /** Objects only, as MCP requires. */
  readonly structuredContent?: object;
  readonly isError: boolean;
}

export function mcpResults(results: readonly ToolExecutionResult[]): McpToolResult[] {
  return results.map(({ status, result: text }) => {
    const structuredContent = status === 'success' ? objectIn(text) : undefined;
    return {
      content: [{ type: 'text', text }],
      ...(structuredContent === undefined ? {} : { structuredContent }),
      isError: status === 'error',
    };
  });
}

function objectIn(text: string): object | undefined {
  if (!text.startsWith('{')) return undefined;
  try {
    return JSON.parse(text) as object;
  } catch {
    return undefined; // The text only begins like an object.
  }
}
