import { content, isContentValue, isTerminal, reason, type ContentValue } from '@patchboard/wire';
import { failure, type Failure } from '../core/failures.ts';
import type { ToolResultBlock } from '../protocols/messages.ts';
import { modelBlocks, type ModelBlock } from '../protocols/model-blocks.ts';
import { utf8Bytes } from '../core/json/utf8-bytes.ts';
import { DEFAULT_LANGUAGE, type Language } from './advice.ts';
import { cut } from './preview.ts';
import type { ToolCallRecord } from './tool-call-record.ts';
import { toolError } from './tool-error.ts';

export interface ToolResultOptions {
  readonly language?: Language;
  /** A larger result is truncated for the model; the record of the call has all of it. Default 32,768. */
  readonly maxBytes?: number;
}

/** Replaces a result that is too large for a model. */
export interface TruncatedResult {
  readonly truncated: true;
  /** `board.get(call_id)` returns the whole result. */
  readonly call_id: string;
  readonly total_bytes: number;
  /** The beginning of the text, or of the JSON of another value. */
  readonly preview: string;
}

export const MODEL_RESULT_BYTES = 32_768;

/** Converts an ended call to the `tool_result` of a `tool_use`. */
export function toToolResult(
  toolUseId: string,
  record: ToolCallRecord,
  { language = DEFAULT_LANGUAGE, maxBytes = MODEL_RESULT_BYTES }: ToolResultOptions = {},
): ToolResultBlock {
  if (record.state === 'COMPLETED')
    return block(toolUseId, truncateForModel(record.result, record.id, maxBytes), false);
  const failed = record.failure ?? notEnded(record);
  // A denying hook may provide the content for the model.
  const shown = failed.toolResult === undefined ? toolError(failed, language) : failed.toolResult;
  return block(toolUseId, truncateForModel(shown, record.id, maxBytes), true);
}

/** Converts a refusal without a call to the `tool_result` of a `tool_use`. */
export function refusedToolResult(
  toolUseId: string,
  refused: Failure,
  { language = DEFAULT_LANGUAGE }: ToolResultOptions = {},
): ToolResultBlock {
  return block(toolUseId, toolError(refused, language), true);
}

/**
 * Returns the value itself if it is small enough, otherwise a `TruncatedResult`. Of a content value the
 * pictures that models can see stay, and the rest becomes text, cut to the limit.
 */
export function truncateForModel(value: unknown, callId: string, maxBytes: number): unknown {
  if (isContentValue(value)) return contentForModel(value, callId, maxBytes);
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? 'null');
  // Fast path: a UTF-16 unit takes at most three bytes in UTF-8.
  if (text.length * 3 <= maxBytes) return value;
  const bytes = utf8Bytes(text);
  if (bytes <= maxBytes) return value;
  const shown: TruncatedResult = {
    truncated: true,
    call_id: callId,
    total_bytes: bytes,
    preview: cut(text, Math.max(1, Math.floor(maxBytes / 3))),
  };
  return shown;
}

function contentForModel(value: ContentValue, callId: string, maxBytes: number): ContentValue {
  let left = maxBytes;
  const blocks = modelBlocks(value).flatMap((block): (ModelBlock | string)[] => {
    if (block.type === 'image') return [block];
    if (left <= 0) return [];
    const bytes = utf8Bytes(block.text);
    const before = left;
    left -= bytes;
    if (bytes <= before) return [block];
    const text = cut(block.text, Math.max(1, Math.floor(before / 3)));
    return [`${text}… (truncated: call ${callId} has the whole result)`];
  });
  return content(blocks);
}

function notEnded({ id, state }: ToolCallRecord): Failure {
  if (isTerminal(state)) return failure('internal', reason('call_ended_without_reason', { id }));
  return failure('conflict', reason('call_still_open', { id, state }));
}

function block(toolUseId: string, value: unknown, isError: boolean): ToolResultBlock {
  return { type: 'tool_result', tool_use_id: toolUseId, content: value, is_error: isError };
}
