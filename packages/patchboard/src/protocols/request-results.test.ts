import { reason } from '@patchboard/wire';
import { describe, expect, it } from 'vitest';
import { failure, foreignText } from '../core/failures.ts';
import { damagedRequests, withArgumentProblems, inReplyOrder, resultsForModel } from './request-results.ts';
import { parseError } from './parse-error.ts';
import type { ToolExecutionResult } from './protocol.ts';
import { failureText } from './result-text.ts';

function aResult(more: Partial<ToolExecutionResult>): ToolExecutionResult {
  return { requestId: 'one', toolName: 'echo', status: 'success', result: 'x', durationMs: 1, ...more };
}

describe('the results of a reply', () => {
  it('contain the position of a damaged request, and that nothing was run', () => {
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

  it('are in the order of the reply', () => {
    expect(
      inReplyOrder([
        [30, 'c'],
        [0, 'a'],
        [7, 'b'],
      ]),
    ).toEqual(['a', 'b', 'c']);
  });

  it('describe invalid arguments by the problems of the parser, and no other failure', () => {
    const invalid = failure('input_invalid', foreignText('/a must be integer'));
    const wrong = reason('argument', { name: 'a', problem: [reason('argument_type', { type: 'integer' })] });
    const missing = reason('argument', { name: 'b', problem: [reason('argument_missing')] });
    expect(withArgumentProblems(invalid, [wrong, missing])).toMatchObject({
      message: '"a" must be an integer; "b" is required',
      reasons: [wrong, missing],
    });
    expect(withArgumentProblems(invalid, [])).toBe(invalid);
    const denied = failure('hook_denied', foreignText('no'));
    expect(withArgumentProblems(denied, [missing])).toBe(denied);
  });

  it('leave out successes with noReply, and errors that belong to no request', () => {
    const wanted = aResult({});
    const failed = aResult({ noReply: true, status: 'error' });
    const unwanted = aResult({ noReply: true });
    const withoutRequest = aResult({ requestId: '', status: 'error' });
    expect(resultsForModel([wanted, unwanted, failed, withoutRequest])).toEqual([wanted, failed]);
  });

  it('are the tool result of a hook that denied with one', () => {
    expect(failureText(failure('hook_denied', foreignText('no'), { toolResult: { ok: false } }))).toBe(
      '{"ok":false}',
    );
  });
});
