import { isContentJson, isContentValue } from '@patchboard/wire';
import type { Call } from '../../core/call/call.ts';
import { timesOf } from '../../core/call/call-times.ts';
import type { Failure } from '../../core/failures.ts';
import { resultsForModel } from '../../protocols/request-results.ts';
import type { ToolCallingProtocol, ToolExecutionResult } from '../../protocols/protocol.ts';
import { failureText, valueText } from '../../protocols/result-text.ts';
import { callRowJson } from '../shared/views/call-view.ts';

/** The result of one request in a reply. */
export interface BatchResult {
  readonly requestId: string;
  readonly toolName: string;
  /** A successful result is not sent to the model. */
  readonly noReply: boolean;
  /** Null if the request was refused and no call was recorded. */
  readonly call: Call | null;
  /** Null on success. */
  readonly failure: Failure | null;
}

/** `nodeOf`: see `Calls.nodeOf`. */
export function batchJson(
  protocol: ToolCallingProtocol,
  batch: readonly BatchResult[],
  nodeOf: (call: Call) => number | null,
): string {
  const results = protocol.formatToolResults(resultsForModel(batch.map(resultOf)));
  const calls = batch.map((result) => callRow(result, nodeOf)).join(',');
  return `{"results":${protocol.replies === 'text' ? JSON.stringify(results) : results},"calls":[${calls}]}`;
}

/** Not truncated, unlike the results of an in-process agent: the caller decides what its model can take. */
function resultOf({ requestId, toolName, noReply, call, failure }: BatchResult): ToolExecutionResult {
  const common = {
    requestId,
    toolName,
    noReply,
    durationMs: call === null ? 0 : (timesOf(call)?.ranMs ?? 0),
  };
  if (failure !== null) return { ...common, status: 'error', result: failureText(failure) };
  const json = call !== null && 'resultJson' in call.state ? call.state.resultJson : 'null';
  const result = { ...common, status: 'success' } as const;
  // Only strings and content values are parsed: of any other value the stored text is the one that the model gets.
  if (!json.startsWith('"') && !isContentJson(json)) return { ...result, result: json };
  const value = JSON.parse(json) as unknown;
  const text = valueText(value);
  return isContentValue(value) ? { ...result, result: text, content: value } : { ...result, result: text };
}

/** The call record, as in a list, with the id of its request. */
function callRow(
  { requestId, toolName, call, failure }: BatchResult,
  nodeOf: (call: Call) => number | null,
): string {
  if (call !== null)
    return `{"request_id":${JSON.stringify(requestId)},${callRowJson(call, nodeOf(call)).slice(1)}`;
  const { code = 'internal', message = '', retryable = false } = failure ?? {};
  return JSON.stringify({
    request_id: requestId,
    tool_call_id: null,
    tool_name: toolName,
    error: { code, message, retryable },
  });
}
