import { reason } from '@patchboard/wire';
import { failure, type Failure } from '../core/failures.ts';
import type { Problem } from '../sdk/shape.ts';

/** Thrown for invalid requests to an agent, and when its model or its store fails. */
export class AgentError extends Error {
  readonly failure: Failure;

  constructor(given: Failure, options?: ErrorOptions) {
    super(given.message, options);
    this.name = 'AgentError';
    this.failure = given;
  }
}

/** Throws if there is a problem. `what` is the method whose options are invalid. */
export function check(what: string, problem: Problem | null): void {
  if (problem !== null)
    throw new AgentError(failure('body_invalid', reason('at_place', { place: what, problem })));
}
