import { failure, type Failure } from '../core/failures.ts';

/** Thrown for what an agent was asked and cannot do, and when its model or its store fails. */
export class AgentError extends Error {
  readonly failure: Failure;

  constructor(given: Failure, options?: ErrorOptions) {
    super(given.message, options);
    this.name = 'AgentError';
    this.failure = given;
  }
}

/** `problem`: what is wrong with what `what` was given; null when nothing is. */
export function check(what: string, problem: string | null): void {
  if (problem !== null) throw new AgentError(failure('body_invalid', `${what}: ${problem}`));
}
