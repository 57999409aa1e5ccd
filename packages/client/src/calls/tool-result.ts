import type { CallView, ToolResultView } from '@patchboard/wire';

/** An ended call as a result for the model; `formatResults` writes it as a protocol has it. */
export function toolResultOf(call: CallView): ToolResultView {
  const { tool_call_id: callId, tool_name: toolName, status, result, error } = call;
  // An older server tells only how long it took in all.
  const durationMs = call.ran_ms ?? call.duration_ms ?? 0;
  const common = { requestId: callId, toolName, callId, durationMs };
  if (status !== 'SUCCEEDED') {
    const { code = 'internal', message = '', recommendations = [] } = error ?? {};
    return { ...common, status: 'error', result: [`${code}: ${message}`, ...recommendations].join('\n') };
  }
  return {
    ...common,
    status: 'success',
    result: typeof result === 'string' ? result : JSON.stringify(result),
  };
}
