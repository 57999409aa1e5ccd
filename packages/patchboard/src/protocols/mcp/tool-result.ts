import {
  blocksOf,
  isContentJson,
  isContentValue,
  type ContentValue,
  type ResultBlock,
} from '@patchboard/wire';
import { isRecord } from '../../core/json/is-record.ts';
import type { ToolExecutionResult } from '../protocol.ts';

/** The result of `tools/call` of an MCP server. */
export interface McpToolResult {
  readonly content: readonly ResultBlock[];
  readonly structuredContent?: unknown;
  readonly isError: boolean;
}

/** For clients of every revision: `structuredContent` is an object. */
export function mcpResults(results: readonly ToolExecutionResult[]): McpToolResult[] {
  return results.map(({ status, result: text, content }) => {
    if (content !== undefined) return withContent(content, status === 'error', 'object');
    const structuredContent = status === 'success' ? objectIn(text) : undefined;
    return {
      content: [{ type: 'text', text }],
      ...(structuredContent === undefined ? {} : { structuredContent }),
      isError: status === 'error',
    };
  });
}

export interface McpResultOptions {
  /** What `structuredContent` may be: any JSON from revision 2026-07-28 on, objects before. */
  readonly structured: 'any' | 'object';
  /** Whether the tool list has an output schema for the tool. Clients then require `structuredContent`, also of a string. */
  readonly hasOutputSchema: boolean;
}

/**
 * The members of a successful result of `tools/call` as JSON text, without the braces around them. The stored JSON of the
 * returned value is copied; only a content value is parsed. A string is text. Other JSON is text and, if the options allow
 * it, `structuredContent`.
 */
export function mcpResultMembers(resultJson: string, options: McpResultOptions): string {
  const { structured, hasOutputSchema } = options;
  const content: unknown = isContentJson(resultJson) ? JSON.parse(resultJson) : null;
  if (isContentValue(content)) return JSON.stringify(withContent(content, false, structured)).slice(1, -1);
  const isString = resultJson.startsWith('"');
  const isStructured = structured === 'any' ? !isString || hasOutputSchema : resultJson.startsWith('{');
  const text = isString ? resultJson : JSON.stringify(resultJson);
  const more = isStructured ? `,"structuredContent":${resultJson}` : '';
  return `"content":[{"type":"text","text":${text}}]${more},"isError":false`;
}

/** The blocks are MCP's own. */
function withContent(
  value: ContentValue,
  isError: boolean,
  allowed: McpResultOptions['structured'],
): McpToolResult {
  const { structured } = value;
  const isAllowed = allowed === 'any' ? structured !== undefined : isRecord(structured);
  return { content: blocksOf(value), ...(isAllowed ? { structuredContent: structured } : {}), isError };
}

function objectIn(text: string): object | undefined {
  if (!text.startsWith('{')) return undefined;
  try {
    return JSON.parse(text) as object;
  } catch {
    return undefined; // The text only begins like an object.
  }
}
