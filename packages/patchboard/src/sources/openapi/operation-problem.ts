import { reasonText, type Reason } from '@patchboard/wire';

/** Thrown for an operation that cannot become a tool, and caught inside this folder, where the operation is rejected. */
export class OperationProblem extends Error {
  readonly reason: Reason;

  constructor(why: Reason) {
    super(reasonText(why));
    this.name = 'OperationProblem';
    this.reason = why;
  }
}

/** Returns the reason of an `OperationProblem`. Throws any other error again. */
export function problemOf(error: unknown): Reason {
  if (error instanceof OperationProblem) return error.reason;
  throw error;
}
