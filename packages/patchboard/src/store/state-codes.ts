import { CALL_STATES, isTerminal, type CallStateName } from '@patchboard/wire';

/** The stored codes; never renumber. The migrations contain the code 4. */
export const STATE_CODES: Readonly<Record<CallStateName, number>> = {
  PENDING: 0,
  APPROVAL_REQUIRED: 1,
  APPROVED: 2,
  EXECUTING: 3,
  COMPLETED: 4,
  FAILED: 5,
  TIMED_OUT: 6,
  DENIED: 7,
  CANCELLED: 8,
  SEALED: 9,
  INPUT_REQUIRED: 10,
};

/** The codes of the open states, as SQL text. */
export const OPEN_CODES: string = CALL_STATES.filter((name) => !isTerminal(name))
  .map((name) => STATE_CODES[name])
  .join(', ');

const STATE_NAMES: ReadonlyMap<number, CallStateName> = new Map(
  CALL_STATES.map((name) => [STATE_CODES[name], name]),
);

export function stateNameOf(code: number): CallStateName {
  const name = STATE_NAMES.get(code);
  if (name === undefined) throw new Error(`no call state has the code ${code}`);
  return name;
}

/** Returns a bit mask with one bit per state, so that a filter by several states is one test. */
export function stateMask(states: readonly CallStateName[]): number {
  return states.reduce((mask, state) => mask | (1 << STATE_CODES[state]), 0);
}
