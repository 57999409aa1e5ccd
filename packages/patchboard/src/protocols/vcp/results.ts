import { RESULT_END, RESULT_START, writeShownValue } from '@patchboard/wire/vcp';
import type { ToolExecutionResult } from '../protocol.ts';

/** What the model reads next. A block for each, so that results of parallel calls can be told apart. */
export function formatResults(results: readonly ToolExecutionResult[]): string {
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
