import { reason } from '@patchboard/wire';
import { describe, expect, it } from 'vitest';
import { failure } from '../core/failures.ts';
import { damagedRequests, inModelsWords, inReplyOrder, toldResults } from './answers.ts';
import { parseError } from './parse-error.ts';
import type { ToolExecutionResult } from './protocol.ts';
import { failureText } from './result-text.ts';

function aResult(more: Partial<ToolExecutionResult>): ToolExecutionResult {
  return { requestId: 'one', toolName: 'echo', status: 'success', result: 'x', durationMs: 1, ...more };
}

describe('the answers to a reply', () => {
  it('say of a damaged request where it is and that nothing was run', () => {
    const why = reason('call_without_tool');
    const [damaged] = damagedRequests('a\nbc', [parseError('tool_name_missing', 3, why)]);
    expect(damaged).toMatchObject({ offset: 3, requestId: '', toolName: '' });
    expect(damaged && failureText(damaged.failure)).toBe(
      'body_invalid: line 2, column 2: the call names no tool\nnothing was run; write the request again',
    );
    expect(damaged?.failure.reasons).toEqual([
      { code: 'at_line', params: { line: 2, column: 2, problem: [why] } },
    ]);
  });

  it('stand in the order of the reply', () => {
    expect(
      inReplyOrder([
        [30, 'c'],
        [0, 'a'],
        [7, 'b'],
      ]),
    ).toEqual(['a', 'b', 'c']);
  });

  it('speak of bad arguments in the words of what was written, and of nothing else', () => {
    const invalid = failure('input_invalid', '/a must be integer');
    const wrong = reason('argument', { name: 'a', problem: [reason('argument_type', { type: 'integer' })] });
    const missing = reason('argument', { name: 'b', problem: [reason('argument_missing')] });
    expect(inModelsWords(invalid, [wrong, missing])).toMatchObject({
      message: '"a" must be an integer; "b" is required',
      reasons: [wrong, missing],
    });
    expect(inModelsWords(invalid, [])).toBe(invalid);
    const denied = failure('hook_denied', 'no');
    expect(inModelsWords(denied, [missing])).toBe(denied);
  });

  it('leave out what wants no reply, unless it failed, and what belongs to no request', () => {
    const wanted = aResult({});
    const failed = aResult({ noReply: true, status: 'error' });
    const unwanted = aResult({ noReply: true });
    const ofNobody = aResult({ requestId: '', status: 'error' });
    expect(toldResults([wanted, unwanted, failed, ofNobody])).toEqual([wanted, failed]);
  });

  it('are those of a hook, where it denied with an answer of its own', () => {
    expect(failureText(failure('hook_denied', 'no', { toolResult: { ok: false } }))).toBe('{"ok":false}');
  });
});
