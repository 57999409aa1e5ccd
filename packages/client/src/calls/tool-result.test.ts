import { content, imageBlock, type CallView } from '@patchboard/wire';
import { describe, expect, it } from 'vitest';
import { toolResultOf } from './tool-result.ts';

const ended = (result: unknown): CallView =>
  ({ tool_call_id: 'tc_1', tool_name: 'camera', status: 'SUCCEEDED', result, ran_ms: 3 }) as CallView;

describe('toolResultOf', () => {
  it('names what of a result with content is no text', () => {
    expect(toolResultOf(ended(content(['a screen', imageBlock('AAAA')], { width: 2 })))).toEqual({
      requestId: 'tc_1',
      callId: 'tc_1',
      toolName: 'camera',
      status: 'success',
      result: 'a screen\n[image/png, 3 B]\n{"width":2}',
      durationMs: 3,
    });
    expect(toolResultOf(ended({ rows: 1 })).result).toBe('{"rows":1}');
  });
});
