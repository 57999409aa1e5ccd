import type { JsonSchema } from '@patchboard/wire';
import { jsonReplies } from '../json-reply.ts';
import { offeredTools } from '../parameters.ts';
import type { ToolDefinitionInput } from '../tool-module.ts';
import type { ToolCallingProtocol, ToolExecutionResult } from '../protocol.ts';
import { parseReply } from '../reply-reader.ts';
import { anthropicReply } from './anthropic-reply.ts';

export interface AnthropicTool {
  readonly name: string;
  readonly description: string;
  readonly input_schema: Exclude<JsonSchema, boolean>;
}

export interface AnthropicToolResult {
  readonly type: 'tool_result';
  readonly tool_use_id: string;
  readonly content: string;
  readonly is_error?: true;
}

/** The `tools` of a request. */
export function anthropicTools(input: readonly ToolDefinitionInput[]): AnthropicTool[] {
  return offeredTools(input).map(({ wireName, description, schema }) => ({
    name: wireName,
    description,
    // The vendor requires an object schema at the top level.
    input_schema: { ...(typeof schema === 'boolean' ? {} : schema), type: 'object' },
  }));
}

/** The `content` of the next user message. */
export function anthropicResults(results: readonly ToolExecutionResult[]): AnthropicToolResult[] {
  return results.map(({ requestId, status, result }) => ({
    type: 'tool_result',
    tool_use_id: requestId,
    content: result,
    ...(status === 'error' ? { is_error: true as const } : {}),
  }));
}

export const anthropicProtocol: ToolCallingProtocol = {
  id: 'anthropic',
  replies: 'json',
  generateToolDefinitions: (input) => JSON.stringify(anthropicTools(input)),
  parseToolRequests: (finalText) => parseReply(anthropicProtocol, finalText).requests,
  formatToolResults: (results) => JSON.stringify(anthropicResults(results)),
  ...jsonReplies(anthropicReply),
};
