import { reason, reasonsText, type Reason } from '@patchboard/wire';
import { failure, type Failure } from '../core/failures.ts';
import { positionFinder } from './text-position.ts';
import type { ParseError, ToolExecutionResult } from './protocol.ts';

/** A request in a reply that could not be parsed. It is not run; the failure tells the model where and why. */
export interface DamagedRequest {
  readonly offset: number;
  readonly requestId: string;
  readonly toolName: string;
  readonly failure: Failure;
}

export function damagedRequests(reply: string, errors: readonly ParseError[]): DamagedRequest[] {
  const place = positionFinder(reply);
  return errors.map(({ offset, requestId = '', toolName = '', reasons }) => {
    const { line, column } = place(offset);
    const why = failure('body_invalid', reason('at_line', { line, column, problem: reasons }), {
      recommendations: ['nothing was run; write the request again'],
    });
    return { offset, requestId, toolName, failure: why };
  });
}

/** Sorts results by the offset of their request in the reply, so that damaged requests stand among those that ran. */
export function inReplyOrder<Result>(results: readonly (readonly [number, Result])[]): Result[] {
  return results.toSorted(([a], [b]) => a - b).map(([, result]) => result);
}

/** Replaces the engine's message about invalid arguments by the parser's problems, which quote what the model wrote. */
export function withArgumentProblems(refused: Failure, problems: readonly Reason[]): Failure {
  if (refused.code !== 'input_invalid' || problems.length === 0) return refused;
  return { ...refused, message: reasonsText(problems), reasons: problems };
}

/** Leaves out successes of requests with `noReply`, and errors that belong to no request. */
export function resultsForModel(results: readonly ToolExecutionResult[]): ToolExecutionResult[] {
  return results.filter(
    ({ requestId, noReply, status }) => requestId !== '' && (noReply !== true || status === 'error'),
  );
}
