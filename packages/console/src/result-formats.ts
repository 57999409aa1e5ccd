import type { CallView } from '@patchboard/wire';

export const RESULT_FORMATS = ['anthropic', 'openai', 'mcp', 'vcp'] as const;

export type ResultFormat = (typeof RESULT_FORMATS)[number];

/** What a model of each kind would read of an ended call. */
export function resultAs(format: ResultFormat, call: CallView): string {
  const isError = call.status !== 'SUCCEEDED';
  const text = textOf(isError ? call.error : call.result);
  switch (format) {
    case 'anthropic':
      return pretty({
        type: 'tool_result',
        tool_use_id: call.tool_call_id,
        content: text,
        is_error: isError,
      });
    case 'openai':
      return pretty({ role: 'tool', tool_call_id: call.tool_call_id, content: text });
    case 'mcp':
      return pretty({
        content: [{ type: 'text', text }],
        ...(isObject(call.result) ? { structuredContent: call.result } : {}),
        isError,
      });
    case 'vcp':
      return vcp(call, text);
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? 'null');
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function pretty(value: unknown): string {
  return JSON.stringify(value, null, 2);
}

function vcp(call: CallView, text: string): string {
  const fields = {
    request_id: call.tool_call_id,
    tool_name: call.tool_name,
    status: call.status === 'SUCCEEDED' ? 'success' : 'error',
    duration_ms: String(call.duration_ms ?? 0),
    result: text,
  };
  const lines = Object.entries(fields).map(([name, value]) => `${name}:${marked(value)}`);
  return ['<<<[TOOL_RESULT]>>>', ...lines, '<<<[END_TOOL_RESULT]>>>'].join('\n');
}

/** The first pair of marks that the value itself does not hold. */
function marked(value: string): string {
  const holdsMarker = /「(始|末)|<<<\[/.test(value);
  for (let number = 0; ; number += 1) {
    const tag = number === 0 ? (holdsMarker ? 'ESCAPE1' : '') : `ESCAPE${number + 1}`;
    if (!value.includes(`「末${tag}」`)) return `「始${tag}」${value}「末${tag}」`;
  }
}
