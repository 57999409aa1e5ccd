import type { Failure } from '../core/failures.ts';

/** Thrown for a tool or call that is refused without a record, and for an unknown id or an operation that the current state does not allow. */
export class BoardError extends Error {
  readonly failure: Failure;

  constructor(given: Failure) {
    super(given.message);
    this.name = 'BoardError';
    this.failure = given;
  }
}
