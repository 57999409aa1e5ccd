import { reason, reasonsText, type Reason } from '@patchboard/wire';
import { failure, type Failure } from '../core/failures.ts';
import { placeFinder } from './places.ts';
import type { ParseError, ToolExecutionResult } from './protocol.ts';

/** A request of a reply that could not be read: nothing is run, and the model is told where and why. */
export interface DamagedRequest {
  readonly offset: number;
  readonly requestId: string;
  readonly toolName: string;
  readonly failure: Failure;
}

export function damagedRequests(reply: string, errors: readonly ParseError[]): DamagedRequest[] {
  const place = placeFinder(reply);
  return errors.map(({ offset, requestId = '', toolName = '', reasons }) => {
    const { line, column } = place(offset);
    const why = failure('body_invalid', reason('at_line', { line, column, problem: reasons }), {
      recommendations: ['nothing was run; write the request again'],
    });
    return { offset, requestId, toolName, failure: why };
  });
}

/** Each answer with where its request begins: in the order of the reply, damaged requests among those that ran. */
export function inReplyOrder<Answer>(answers: readonly (readonly [number, Answer])[]): Answer[] {
  return answers.toSorted(([a], [b]) => a - b).map(([, answer]) => answer);
}

/** The engine says what does not fit; the reader knows what the model wrote. */
export function inModelsWords(refused: Failure, problems: readonly Reason[]): Failure {
  if (refused.code !== 'input_invalid' || problems.length === 0) return refused;
  return { ...refused, message: reasonsText(problems), reasons: problems };
}

/** Without the success of a request that wants no reply, and without what belongs to no request. */
export function toldResults(results: readonly ToolExecutionResult[]): ToolExecutionResult[] {
  return results.filter(
    ({ requestId, noReply, status }) => requestId !== '' && (noReply !== true || status === 'error'),
  );
}
