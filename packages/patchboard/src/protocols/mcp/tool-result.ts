import { blocksOf, type ContentValue, type ResultBlock } from '@patchboard/wire';
import { isRecord } from '../../core/json/is-record.ts';
import type { ToolExecutionResult } from '../protocol.ts';

/** The result of `tools/call` of an MCP server. */
export interface McpToolResult {
  readonly content: readonly ResultBlock[];
  /** Objects only, as MCP requires. */
  readonly structuredContent?: object;
  readonly isError: boolean;
}

export function mcpResults(results: readonly ToolExecutionResult[]): McpToolResult[] {
  return results.map(({ status, result: text, content }) => {
    if (content !== undefined) return withContent(content, status === 'error');
    const structuredContent = status === 'success' ? objectIn(text) : undefined;
    return {
      content: [{ type: 'text', text }],
      ...(structuredContent === undefined ? {} : { structuredContent }),
      isError: status === 'error',
    };
  });
}

/** The blocks are MCP's own. */
function withContent(value: ContentValue, isError: boolean): McpToolResult {
  const { structured } = value;
  return {
    content: blocksOf(value),
    ...(isRecord(structured) ? { structuredContent: structured } : {}),
    isError,
  };
}

function objectIn(text: string): object | undefined {
  if (!text.startsWith('{')) return undefined;
  try {
    return JSON.parse(text) as object;
  } catch {
    return undefined; // The text only begins like an object.
  }
}
