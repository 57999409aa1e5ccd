import { reason, type ReasonView } from '@patchboard/wire';
import { failure, ToolFailure } from '../../core/failures.ts';

/** The failure of an argument that fits the input schema and cannot be sent. No request was made. */
export function argumentProblem(argument: string, problem: ReasonView): ToolFailure {
  const why = reason('openapi_argument', { argument, problem: [problem] });
  return new ToolFailure(failure('input_invalid', why, { outcome: 'not_started' }));
}

/** The failure of an operation that cannot be called with any arguments. No request was made. */
export function operationProblem(problem: ReasonView): ToolFailure {
  return new ToolFailure(failure('tool_failed', problem, { outcome: 'not_started' }));
}
