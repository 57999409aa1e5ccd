import { reason, reasonText, type Reason } from '@patchboard/wire';
import { ToolFailure, failure } from '../../../core/failures.ts';

/** The failure for invalid syntax. `index` counts from 0; the message counts from 1. */
export function badExpression(problem: Reason, index: number, recommendation?: string): ToolFailure {
  const why = atPosition(problem, index);
  return new ToolFailure(
    failure('input_invalid', why, {
      issues: [{ path: '/expression', message: reasonText(why), reasons: [why] }],
      ...(recommendation === undefined ? {} : { recommendations: [recommendation] }),
    }),
  );
}

/** The failure for a valid expression without a finite real value. */
export function noValue(problem: Reason, index: number): ToolFailure {
  return new ToolFailure(failure('tool_failed', atPosition(problem, index)));
}

function atPosition(problem: Reason, index: number): Reason {
  return reason('at_position', { problem: [problem], position: index + 1 });
}
