import type { ContentValue } from '@patchboard/wire';
import { hasImage, modelBlocks } from '../model-blocks.ts';
import { offeredTools } from '../parameters.ts';
import type { ToolDefinitionInput } from '../tool-module.ts';
import type { ToolExecutionResult } from '../protocol.ts';
import type { SchemaObject } from '../schema-facts.ts';
import { toStrictSchema, type LostKeyword } from './strict-schema.ts';

export interface OpenAiFunction {
  readonly name: string;
  readonly description: string;
  readonly parameters: SchemaObject;
  readonly strict: boolean;
}

/** The parts of a tool's schema that the vendor does not enforce. */
export interface Conversion {
  readonly name: string;
  readonly strict: boolean;
  readonly lost: readonly LostKeyword[];
}

export function openAiFunctions(input: readonly ToolDefinitionInput[]): {
  readonly functions: OpenAiFunction[];
  /** Only for tools that lost a part of their schema. */
  readonly conversions: Conversion[];
} {
  const converted = offeredTools(input).map(({ name, wireName, description, schema }) => {
    const { strict, schema: parameters, lost } = toStrictSchema(schema);
    return {
      conversion: { name, strict, lost },
      // The vendor rejects an object schema without `properties`.
      fn: { name: wireName, description, parameters: { properties: {}, ...parameters }, strict },
    };
  });
  return {
    functions: converted.map(({ fn }) => fn),
    conversions: converted.map(({ conversion }) => conversion).filter(({ lost }) => lost.length > 0),
  };
}

export interface ChatTool {
  readonly type: 'function';
  readonly function: OpenAiFunction;
}

/** The `tools` of a chat completion. */
export function chatTools(functions: readonly OpenAiFunction[]): ChatTool[] {
  return functions.map((fn) => ({ type: 'function', function: fn }));
}

export interface ResponsesTool extends OpenAiFunction {
  readonly type: 'function';
}

/** The `tools` of a response. */
export function responsesTools(functions: readonly OpenAiFunction[]): ResponsesTool[] {
  return functions.map((fn) => ({ type: 'function', ...fn }));
}

export interface ChatToolMessage {
  readonly role: 'tool';
  readonly tool_call_id: string;
  readonly content: string;
}

/**
 * The next messages. The vendor has no flag for failures, so the text contains it. A tool message contains text only, so
 * pictures are named.
 */
export function chatResults(results: readonly ToolExecutionResult[]): ChatToolMessage[] {
  return results.map((result) => ({
    role: 'tool',
    tool_call_id: result.requestId,
    content: contentOf(result),
  }));
}

export interface FunctionCallOutput {
  readonly type: 'function_call_output';
  readonly call_id: string;
  readonly output: string | readonly ResponsesOutputBlock[];
}

type ResponsesOutputBlock =
  | { readonly type: 'input_text'; readonly text: string }
  | { readonly type: 'input_image'; readonly image_url: string };

/** The next `input` items. */
export function responsesResults(results: readonly ToolExecutionResult[]): FunctionCallOutput[] {
  return results.map((result) => ({
    type: 'function_call_output',
    call_id: result.requestId,
    output:
      result.content === undefined ? contentOf(result) : outputBlocks(result.content, contentOf(result)),
  }));
}

/** Blocks only where there is a picture to show. */
function outputBlocks(content: ContentValue, text: string): FunctionCallOutput['output'] {
  const blocks = modelBlocks(content);
  if (!hasImage(blocks)) return text;
  return blocks.map((block) => {
    if (block.type === 'text') return { type: 'input_text', text: block.text };
    return { type: 'input_image', image_url: `data:${block.mimeType};base64,${block.data}` };
  });
}

function contentOf({ status, result }: ToolExecutionResult): string {
  return status === 'success' ? result : `Error: ${result}`;
}
