import {
  isTerminal,
  type CallStateName,
  type FailureCode,
  type SandboxName,
  type ToolSourceName,
} from '@patchboard/wire';
import type { Failure } from '../failures.ts';
import type { CallOrigin } from './call-origin.ts';
import type { Decision } from '../access/guard.ts';
import type { InputRound } from './input.ts';
import type { AcceptedInput } from './input-kinds.ts';
import type { OfferedInputs } from './offered-inputs.ts';

/**
 * One request to run one tool with fixed arguments.
 * Everything but `version`, `state`, `approval`, `inputs`, `offered`, `workspace` and `timeline` is written once; the arguments change only by an
 * operator's edit before the call runs, and by redaction after its end.
 */
export interface Call {
  readonly id: string;
  readonly tenant: string;
  readonly runId: string;
  /** False: the API generated the id of the run, and the limit of its concurrent calls does not apply. */
  readonly countsInRun: boolean;
  readonly agentId: string;
  readonly toolName: string;
  /** Hash of the tool's contract at submission. */
  readonly toolVersion: string;
  readonly source: ToolSourceName;
  /** The client that registered the tool; null for tools of this server. */
  readonly clientId: string | null;
  /** The device that the caller requested; null: any. */
  readonly target: string | null;
  /** JSON text. It is parsed only where the tool runs. */
  readonly argsJson: string;
  /** Values were removed from the arguments after the end, so the call cannot be replayed with them. */
  readonly argsRedacted: boolean;
  readonly timeoutMs: number;
  /** The sandbox that the tool runs in; null if it uses none. */
  readonly sandbox: SandboxName | null;
  readonly traceId: string | null;
  /** The caller's span within that trace. */
  readonly spanId: string | null;
  /** Site, user and session of a tenant's call, or the program that made it; null if the API knows nothing of it. */
  readonly origin: CallOrigin | null;
  readonly replayOf: string | null;
  /** The call that a sub-agent made this one for. */
  readonly parentCallId: string | null;
  /** The input requests that the caller can respond to. Normalized: see `normalizedInput`. */
  readonly acceptsInput: AcceptedInput;
  /**
   * Secret part of the attempt tokens (fencing tokens) of a client call. A result without it is rejected. Null for
   * server tools.
   */
  readonly fence: string | null;
  /** The call needs an agent of the process that recorded it, so other nodes do not run it. Absent otherwise, and on a single node. */
  readonly pinned?: true;
  readonly createdAt: number;
  /** The admission decision, with its reason. */
  readonly decision: Decision;
  readonly version: number;
  readonly state: CallState;
  readonly approval: Approval | null;
  /** What the tool asked its caller, and the responses. */
  readonly inputs: readonly InputRound[];
  /** Responses that came with the request and have not been used. Absent if there are none, and once the call has ended. */
  readonly offered?: OfferedInputs;
  /** The run's workspace moved to the node that ran the call, without the files of earlier calls. Absent otherwise. */
  readonly workspace?: 'new';
  readonly timeline: readonly TimelineEntry[];
}

/** An open state has a deadline, at which the clock ends the call; an end state has the result or the error. */
export type CallState = OpenState | EndState;

export type OpenState =
  | { readonly name: 'PENDING'; readonly deadlineAt: number }
  | { readonly name: 'APPROVAL_REQUIRED'; readonly deadlineAt: number }
  | { readonly name: 'APPROVED'; readonly deadlineAt: number }
  | {
      readonly name: 'EXECUTING';
      readonly deadlineAt: number;
      readonly attempt: number;
      /** Why the attempt before this one ended; null for a first attempt. */
      readonly cause: FailureCode | null;
      /** Name of the connected device that the call was sent to. */
      readonly device?: string;
      /** See `Device.firstSession`. Absent on a single node. */
      readonly deviceSession?: string;
      /** The program of the client that acknowledged the call, as it named itself. */
      readonly program?: string;
    }
  | {
      readonly name: 'INPUT_REQUIRED';
      /** When the input request expires. */
      readonly deadlineAt: number;
      readonly attempt: number;
      /** As `InputRound.held`. */
      readonly held: boolean;
      readonly device?: string;
      readonly deviceSession?: string;
      readonly program?: string;
    };

/** The members of a state that name what runs the attempt. */
export type AttemptRunner = Pick<
  Extract<OpenState, { name: 'EXECUTING' }>,
  'device' | 'deviceSession' | 'program'
>;

export type EndState =
  | { readonly name: 'COMPLETED'; readonly resultJson: string; readonly resultDigest: string | null }
  | {
      readonly name: Exclude<CallStateName, OpenState['name'] | 'COMPLETED'>;
      readonly error: Failure;
      /** Hash of the result that a client submitted, to recognise a repeated submission. */
      readonly resultDigest: string | null;
    };

export interface Approval {
  /** Hash of exactly what the operator is shown: see `approvalDigest`. */
  readonly digest: string;
  readonly expiresAt: number;
  readonly reason: string;
  /** Additional data from the hook that required the approval. */
  readonly meta?: Readonly<Record<string, unknown>>;
  readonly decision: 'allow' | 'deny' | null;
  readonly decidedBy: string | null;
  readonly decidedAt: number | null;
  readonly note: string | null;
  /** The arguments as the agent sent them, if the operator changed them. */
  readonly originalArgsJson: string | null;
}

export interface TimelineEntry {
  readonly state: CallStateName;
  readonly at: number;
  readonly attempt?: number;
  readonly code?: FailureCode;
  readonly device?: string;
}

/**
 * The allowed transitions. EXECUTING to EXECUTING is a new attempt. A test compares the end states with `isTerminal` of
 * the wire package.
 */
const NEXT: Readonly<Record<CallStateName, readonly CallStateName[]>> = {
  // Directly to COMPLETED: a hook or the cache supplied the result, and nothing ran.
  PENDING: [
    'APPROVAL_REQUIRED',
    'EXECUTING',
    'COMPLETED',
    'FAILED',
    'TIMED_OUT',
    'DENIED',
    'CANCELLED',
    'SEALED',
  ],
  APPROVAL_REQUIRED: ['APPROVED', 'DENIED', 'CANCELLED'],
  APPROVED: ['EXECUTING', 'FAILED', 'TIMED_OUT', 'DENIED', 'CANCELLED', 'SEALED'],
  EXECUTING: ['EXECUTING', 'INPUT_REQUIRED', 'COMPLETED', 'FAILED', 'TIMED_OUT', 'CANCELLED', 'SEALED'],
  // To itself: a request has its response, and others are open or the tool waits for a slot to run again.
  INPUT_REQUIRED: ['INPUT_REQUIRED', 'EXECUTING', 'COMPLETED', 'FAILED', 'TIMED_OUT', 'CANCELLED', 'SEALED'],
  COMPLETED: [],
  FAILED: [],
  TIMED_OUT: [],
  DENIED: [],
  CANCELLED: [],
  SEALED: [],
};

export class IllegalMove extends Error {
  constructor(id: string, from: CallStateName, to: CallStateName) {
    super(`call ${id} cannot move from ${from} to ${to}`);
    this.name = 'IllegalMove';
  }
}

export function canMove(from: CallStateName, to: CallStateName): boolean {
  return NEXT[from].includes(to);
}

/**
 * The only function that changes the state of a recorded call. Throws `IllegalMove` for a transition that is not in
 * `NEXT`.
 */
export function move(
  call: Call,
  next: CallState,
  at: number,
  approval: Approval | null = call.approval,
): Call {
  if (!canMove(call.state.name, next.name)) throw new IllegalMove(call.id, call.state.name, next.name);
  return {
    ...call,
    version: call.version + 1,
    state: next,
    approval,
    timeline: call.timeline.concat(timelineEntry(next, at)),
  };
}

/** Checks the states that a call goes through in its first commit, and returns the last of them. */
export function pathOf(id: string, states: readonly CallState[]): CallState {
  const [first, ...rest] = states;
  if (first === undefined) throw new Error('a call has at least one state');
  let last = first;
  for (const next of rest) {
    if (!canMove(last.name, next.name)) throw new IllegalMove(id, last.name, next.name);
    last = next;
  }
  return last;
}

export function timelineEntry(state: CallState, at: number): TimelineEntry {
  switch (state.name) {
    case 'PENDING':
    case 'APPROVAL_REQUIRED':
    case 'APPROVED':
    case 'INPUT_REQUIRED':
    case 'COMPLETED':
      return { state: state.name, at };
    case 'EXECUTING':
      return executingEntry(state, at);
    default:
      return { state: state.name, at, code: state.error.code };
  }
}

function executingEntry(state: Extract<CallState, { name: 'EXECUTING' }>, at: number): TimelineEntry {
  const { name, attempt, cause, device } = state;
  const entry = { state: name, at, attempt };
  if (cause === null && device === undefined) return entry;
  return {
    ...entry,
    ...(cause === null ? {} : { code: cause }),
    ...(device === undefined ? {} : { device }),
  };
}

export function attemptRunner({ device, deviceSession, program }: AttemptRunner): AttemptRunner {
  if (device === undefined) return program === undefined ? {} : { program };
  return deviceSession === undefined ? { device } : { device, deviceSession };
}

/** Whether the tool runs in this process; otherwise a client or its device runs it. */
export function runsInProcess({ clientId }: Pick<Call, 'clientId'>): boolean {
  return clientId === null;
}

export function isOpen(call: Call): call is Call & { readonly state: OpenState } {
  return !isTerminal(call.state.name);
}

/** Whether the deadline of the call's open state has passed. */
export function isOverdue({ state }: Call, now: number): boolean {
  return 'deadlineAt' in state && state.deadlineAt <= now;
}

/** Returns when the call ended; null while it is open. */
export function endedAt(call: Call): number | null {
  return isOpen(call) ? null : lastEntry(call).at;
}

/** Returns the number of attempts that were started. */
export function attemptsOf(call: Call): number {
  let attempts = 0;
  for (const entry of call.timeline) if (entry.attempt !== undefined) attempts = entry.attempt;
  return attempts;
}

function lastEntry(call: Call): TimelineEntry {
  const entry = call.timeline.at(-1);
  if (entry === undefined) throw new Error(`call ${call.id} has no timeline`);
  return entry;
}
