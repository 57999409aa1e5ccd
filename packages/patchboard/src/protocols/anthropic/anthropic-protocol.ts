import type { ContentValue, JsonSchema } from '@patchboard/wire';
import { jsonReplies } from '../json-reply.ts';
import { hasImage, modelBlocks } from '../model-blocks.ts';
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

type AnthropicResultBlock =
  | { readonly type: 'text'; readonly text: string }
  | {
      readonly type: 'image';
      readonly source: { readonly type: 'base64'; readonly media_type: string; readonly data: string };
    };

interface AnthropicToolResult {
  readonly type: 'tool_result';
  readonly tool_use_id: string;
  readonly content: string | readonly AnthropicResultBlock[];
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
function anthropicResults(results: readonly ToolExecutionResult[]): AnthropicToolResult[] {
  return results.map(({ requestId, status, result, content }) => ({
    type: 'tool_result',
    tool_use_id: requestId,
    content: content === undefined ? result : resultBlocks(content, result),
    ...(status === 'error' ? { is_error: true as const } : {}),
  }));
}

/** Blocks only where there is a picture to show. */
function resultBlocks(content: ContentValue, text: string): AnthropicToolResult['content'] {
  const blocks = modelBlocks(content);
  if (!hasImage(blocks)) return text;
  return blocks.map((block) => {
    if (block.type === 'text') return block;
    return { type: 'image', source: { type: 'base64', media_type: block.mimeType, data: block.data } };
  });
}

export const anthropicProtocol: ToolCallingProtocol = {
  id: 'anthropic',
  replies: 'json',
  generateToolDefinitions: (input) => JSON.stringify(anthropicTools(input)),
  parseToolRequests: (finalText) => parseReply(anthropicProtocol, finalText).requests,
  formatToolResults: (results) => JSON.stringify(anthropicResults(results)),
  ...jsonReplies(anthropicReply),
};
