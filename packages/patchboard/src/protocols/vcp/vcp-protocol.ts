import { RESULT_END, RESULT_START, writeShownValue } from '@patchboard/wire/vcp';
import type { ToolCallingProtocol, ToolExecutionResult } from '../protocol.ts';
import { parseReply } from '../reply-reader.ts';
import { formatDefinitions } from './definitions.ts';
import { BEGINNING, finish, step } from './scanner.ts';

/** Variable & Command Protocol: calls as marked blocks in plain text, for models without native tool calls. */
export const vcpProtocol: ToolCallingProtocol = {
  id: 'vcp',
  replies: 'text',
  generateToolDefinitions: formatDefinitions,
  parseToolRequests: (finalText) => parseReply(vcpProtocol, finalText).requests,
  formatToolResults: formatResults,
  begin: () => BEGINNING,
  step,
  finish,
};

/** The text of the next message: one block per result, so that results of parallel calls are distinguishable. */
function formatResults(results: readonly ToolExecutionResult[]): string {
  return results.map(blockOf).join('\n');
}

function blockOf({ requestId, toolName, status, result, durationMs }: ToolExecutionResult): string {
  const fields = [
    ['request_id', requestId],
    ['tool_name', toolName],
    ['status', status],
    ['duration_ms', String(durationMs)],
    ['result', result],
  ] as const;
  const lines = fields.map(([key, value]) => `${key}:${writeShownValue(value)}`);
  return [RESULT_START, ...lines, RESULT_END].join('\n');
}
