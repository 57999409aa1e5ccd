import { isTerminal } from '@patchboard/wire';
import { failure, type Failure } from '../core/failures.ts';
import type { ToolResultBlock } from '../core/messages.ts';
import { utf8Bytes } from '../core/json/utf8-bytes.ts';
import type { Language } from './advice.ts';
import { cut } from './preview.ts';
import type { ToolCallRecord } from './tool-call-record.ts';
import { toolError } from './tool-error.ts';

export interface ToolResultOptions {
  readonly language?: Language;
  /** A larger result is cut for the model; the whole one stays under the call's id. Default 32,768. */
  readonly maxBytes?: number;
}

/** Stands in the place of a result that is too large to be read by a model. */
export interface TruncatedResult {
  readonly truncated: true;
  /** `board.get(call_id)` has the whole result. */
  readonly call_id: string;
  readonly total_bytes: number;
  /** The beginning: of the text, or of the JSON of any other value. */
  readonly preview: string;
}

export const MODEL_RESULT_BYTES = 32_768;

/** The answer to a `tool_use`, from a call that has ended. */
export function toToolResult(
  toolUseId: string,
  record: ToolCallRecord,
  { language = 'en', maxBytes = MODEL_RESULT_BYTES }: ToolResultOptions = {},
): ToolResultBlock {
  if (record.state === 'COMPLETED')
    return block(toolUseId, truncateForModel(record.result, record.id, maxBytes), false);
  const failed = record.failure ?? notEnded(record);
  // A hook that denies may have the model's answer ready.
  const content = failed.toolResult === undefined ? toolError(failed, language) : failed.toolResult;
  return block(toolUseId, truncateForModel(content, record.id, maxBytes), true);
}

/** The answer to a `tool_use` that was refused and has no call. */
export function refusedToolResult(
  toolUseId: string,
  refused: Failure,
  { language = 'en' }: ToolResultOptions = {},
): ToolResultBlock {
  return block(toolUseId, toolError(refused, language), true);
}

/** The value itself if it is small enough. */
export function truncateForModel(value: unknown, callId: string, maxBytes: number): unknown {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  // No character takes more than three bytes per unit of its length.
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

function notEnded({ id, state }: ToolCallRecord): Failure {
  if (isTerminal(state)) return failure('internal', `call ${id} ended without a reason`);
  return failure('conflict', `call ${id} has not ended: it is ${state}`);
}

function block(toolUseId: string, content: unknown, isError: boolean): ToolResultBlock {
  return { type: 'tool_result', tool_use_id: toolUseId, content, is_error: isError };
}
