import type { Call } from '../../core/call/call.ts';
import { timesOf } from '../../core/call/call-times.ts';
import type { Failure } from '../../core/failures.ts';
import { toldResults } from '../../protocols/answers.ts';
import type { ToolCallingProtocol, ToolExecutionResult } from '../../protocols/protocol.ts';
import { failureText, valueText } from '../../protocols/result-text.ts';
import { callJson } from '../shared/views/call-view.ts';

/** What became of one request of a reply. */
export interface BatchAnswer {
  readonly requestId: string;
  readonly toolName: string;
  /** Success is not told to the model. */
  readonly noReply: boolean;
  /** Null: refused, and not recorded as a call. */
  readonly call: Call | null;
  /** Null: it went well. */
  readonly failure: Failure | null;
}

export function answerJson(protocol: ToolCallingProtocol, answers: readonly BatchAnswer[]): string {
  const results = protocol.formatToolResults(toldResults(answers.map(resultOf)));
  const calls = answers.map(callRow).join(',');
  return `{"results":${protocol.replies === 'text' ? JSON.stringify(results) : results},"calls":[${calls}]}`;
}

/** Whole, unlike an agent's in this process: what is too much for the model is for the caller to say. */
function resultOf({ requestId, toolName, noReply, call, failure }: BatchAnswer): ToolExecutionResult {
  const common = {
    requestId,
    toolName,
    noReply,
    durationMs: call === null ? 0 : (timesOf(call)?.ranMs ?? 0),
  };
  if (failure !== null) return { ...common, status: 'error', result: failureText(failure) };
  const json = call !== null && 'resultJson' in call.state ? call.state.resultJson : 'null';
  return { ...common, status: 'success', result: valueText(JSON.parse(json)) };
}

/** The record as everywhere else, with the request it answers. */
function callRow({ requestId, toolName, call, failure }: BatchAnswer): string {
  if (call !== null) return `{"request_id":${JSON.stringify(requestId)},${callJson(call).slice(1)}`;
  const { code = 'internal', message = '', retryable = false } = failure ?? {};
  return JSON.stringify({
    request_id: requestId,
    tool_call_id: null,
    tool_name: toolName,
    error: { code, message, retryable },
  });
}
