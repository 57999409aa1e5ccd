import type { Failure } from '../core/failures.ts';

/** Thrown for what an agent was asked and cannot do, and when its model or its store fails. */
export class AgentError extends Error {
  readonly failure: Failure;

  constructor(given: Failure, options?: ErrorOptions) {
    super(given.message, options);
    this.name = 'AgentError';
    this.failure = given;
  }
}
