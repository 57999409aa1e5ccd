import { ToolFailure, failure } from '../../../core/failures.ts';

/** The failure for invalid syntax. `index` counts from 0; the message counts from 1. */
export function badExpression(problem: string, index: number, recommendation?: string): ToolFailure {
  const message = `${problem} at position ${index + 1}`;
  return new ToolFailure(
    failure('input_invalid', message, {
      issues: [{ path: '/expression', message }],
      ...(recommendation === undefined ? {} : { recommendations: [recommendation] }),
    }),
  );
}

/** The failure for a valid expression without a finite real value. */
export function noValue(problem: string, index: number): ToolFailure {
  return new ToolFailure(failure('tool_failed', `${problem} at position ${index + 1}`));
}
