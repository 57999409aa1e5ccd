import type { Failure } from '../core/failures.ts';

/** Thrown for a tool or a call that is refused and never recorded, and for what does not exist or cannot be done now. */
export class BoardError extends Error {
  readonly failure: Failure;

  constructor(given: Failure) {
    super(given.message);
    this.name = 'BoardError';
    this.failure = given;
  }
}
