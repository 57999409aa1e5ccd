/** The full story of a call. Order is the order in which a call can meet them. */
export const CALL_STATES = [
  'PENDING',
  'APPROVAL_REQUIRED',
  'APPROVED',
  'EXECUTING',
  'COMPLETED',
  'FAILED',
  'TIMED_OUT',
  'DENIED',
  'CANCELLED',
  'SEALED',
] as const;

export type CallStateName = (typeof CALL_STATES)[number];

/** What a polling agent sees; every ending is one of the last three. */
export const CALL_STATUSES = ['PENDING', 'RUNNING', 'SUCCEEDED', 'FAILED', 'TIMEOUT'] as const;

export type CallStatus = (typeof CALL_STATUSES)[number];

const STATUS_OF: Readonly<Record<CallStateName, CallStatus>> = {
  PENDING: 'PENDING',
  APPROVAL_REQUIRED: 'PENDING',
  APPROVED: 'PENDING',
  EXECUTING: 'RUNNING',
  COMPLETED: 'SUCCEEDED',
  FAILED: 'FAILED',
  TIMED_OUT: 'TIMEOUT',
  DENIED: 'FAILED',
  CANCELLED: 'FAILED',
  SEALED: 'FAILED',
};

/** Status is a pure function of state: nothing else may decide it. */
export function statusOf(state: CallStateName): CallStatus {
  return STATUS_OF[state];
}

export function isCallState(value: unknown): value is CallStateName {
  return typeof value === 'string' && Object.hasOwn(STATUS_OF, value);
}

export function isCallStatus(value: unknown): value is CallStatus {
  return typeof value === 'string' && (CALL_STATUSES as readonly string[]).includes(value);
}

/** The states a status stands for, so that a filter by status is a filter by state. */
export function statesOf(status: CallStatus): readonly CallStateName[] {
  return CALL_STATES.filter((state) => STATUS_OF[state] === status);
}

/** A call in a terminal state never moves again. */
export function isTerminal(state: CallStateName): boolean {
  const status = statusOf(state);
  return status !== 'PENDING' && status !== 'RUNNING';
}
