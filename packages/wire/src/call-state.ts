/** All states of a call, in the order in which a call can pass through them. */
export const CALL_STATES = [
  'PENDING',
  'APPROVAL_REQUIRED',
  'APPROVED',
  'EXECUTING',
  'INPUT_REQUIRED',
  'COMPLETED',
  'FAILED',
  'TIMED_OUT',
  'DENIED',
  'CANCELLED',
  'SEALED',
] as const;

export type CallStateName = (typeof CALL_STATES)[number];

/** The coarse status that polling agents read. The last three are terminal. */
export const CALL_STATUSES = ['PENDING', 'RUNNING', 'SUCCEEDED', 'FAILED', 'TIMEOUT'] as const;

export type CallStatus = (typeof CALL_STATUSES)[number];

const STATUS_OF: Readonly<Record<CallStateName, CallStatus>> = {
  PENDING: 'PENDING',
  APPROVAL_REQUIRED: 'PENDING',
  APPROVED: 'PENDING',
  EXECUTING: 'RUNNING',
  INPUT_REQUIRED: 'RUNNING',
  COMPLETED: 'SUCCEEDED',
  FAILED: 'FAILED',
  TIMED_OUT: 'TIMEOUT',
  DENIED: 'FAILED',
  CANCELLED: 'FAILED',
  SEALED: 'FAILED',
};

/** Status is a pure function of state; no other input may affect it. */
export function statusOf(state: CallStateName): CallStatus {
  return STATUS_OF[state];
}

export function isCallState(value: unknown): value is CallStateName {
  return typeof value === 'string' && Object.hasOwn(STATUS_OF, value);
}

export function isCallStatus(value: unknown): value is CallStatus {
  return typeof value === 'string' && (CALL_STATUSES as readonly string[]).includes(value);
}

/** Returns the states that map to a status, to translate a filter by status into a filter by state. */
export function statesOf(status: CallStatus): readonly CallStateName[] {
  return CALL_STATES.filter((state) => STATUS_OF[state] === status);
}

/** A call never leaves a terminal state. */
export function isTerminal(state: CallStateName): boolean {
  const status = statusOf(state);
  return status !== 'PENDING' && status !== 'RUNNING';
}
