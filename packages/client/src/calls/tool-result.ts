import { contentText, isContentValue, type CallView, type ToolResultView } from '@patchboard/wire';

/** Converts an ended call to a result for the model; `formatResults` formats it for a protocol. */
export function toolResultOf(call: CallView): ToolResultView {
  const { tool_call_id: callId, tool_name: toolName, status, result, error } = call;
  // An older server sends only the total duration.
  const durationMs = call.ran_ms ?? call.duration_ms ?? 0;
  const common = { requestId: callId, toolName, callId, durationMs };
  if (status !== 'SUCCEEDED') {
    const { code = 'internal', message = '', recommendations = [] } = error ?? {};
    return { ...common, status: 'error', result: [`${code}: ${message}`, ...recommendations].join('\n') };
  }
  return {
    ...common,
    status: 'success',
    result: textOf(result),
  };
}

/** Content becomes text that names what it cannot show; the record of the call has the blocks. */
function textOf(result: unknown): string {
  if (isContentValue(result)) return contentText(result);
  return typeof result === 'string' ? result : JSON.stringify(result);
}
