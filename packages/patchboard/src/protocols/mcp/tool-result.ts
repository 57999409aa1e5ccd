import {
  blocksOf,
  isContentJson,
  isContentValue,
  type ContentValue,
  type ResultBlock,
} from '@patchboard/wire';
import { isRecord } from '@patchboard/wire/json';
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
  /** Text for the model after the result. */
  readonly note?: string | null;
}

/**
 * The members of a successful result of `tools/call` as JSON text, without the braces around them. The stored JSON of the
 * returned value is copied; only a content value is parsed. A string is text. Other JSON is text and, if the options allow
 * it, `structuredContent`.
 */
export function mcpResultMembers(resultJson: string, options: McpResultOptions): string {
  const { structured, hasOutputSchema, note = null } = options;
  const more = note === null ? [] : [{ type: 'text' as const, text: note }];
  const content: unknown = isContentJson(resultJson) ? JSON.parse(resultJson) : null;
  if (isContentValue(content)) {
    const result = withContent(content, false, structured);
    return JSON.stringify({ ...result, content: [...result.content, ...more] }).slice(1, -1);
  }
  const isString = resultJson.startsWith('"');
  const isStructured = structured === 'any' ? !isString || hasOutputSchema : resultJson.startsWith('{');
  const text = isString ? resultJson : JSON.stringify(resultJson);
  const notes = more.map((block) => `,${JSON.stringify(block)}`).join('');
  const structuredMember = isStructured ? `,"structuredContent":${resultJson}` : '';
  return `"content":[{"type":"text","text":${text}}${notes}]${structuredMember},"isError":false`;
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
