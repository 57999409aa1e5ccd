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

/**
 * One request to run one tool with frozen arguments.
 * Everything but `version`, `state`, `approval` and `timeline` is written once; the arguments change only by an
 * operator's edit before they run, and by redaction after the end.
 */
export interface Call {
  readonly id: string;
  readonly tenant: string;
  readonly runId: string;
  readonly agentId: string;
  readonly toolName: string;
  /** Hash of the contract the call was made against. */
  readonly toolVersion: string;
  readonly source: ToolSourceName;
  /** Whose tool it is; null for tools of this server. */
  readonly clientId: string | null;
  /** The device the caller asked for, if any. */
  readonly target: string | null;
  /** JSON text, kept as text: most of the way nobody needs to look inside. */
  readonly argsJson: string;
  /** Something was taken out of the arguments after the end: they can no longer be run again as they are. */
  readonly argsRedacted: boolean;
  readonly timeoutMs: number;
  /** What enclosed its work; null: it uses no sandbox. */
  readonly sandbox: SandboxName | null;
  readonly traceId: string | null;
  /** The caller's span within that trace. */
  readonly spanId: string | null;
  /** Site, user and session of a tenant's call; null for other APIs. */
  readonly origin: CallOrigin | null;
  readonly replayOf: string | null;
  /** The call on whose behalf a sub-agent made this one. */
  readonly parentCallId: string | null;
  /** Secret part of the attempt tokens of a client call: a result that does not carry it is not from this attempt. */
  readonly fence: string | null;
  readonly createdAt: number;
  /** Why it was allowed, asked or denied. */
  readonly decision: Decision;
  readonly version: number;
  readonly state: CallState;
  readonly approval: Approval | null;
  readonly timeline: readonly TimelineEntry[];
}

/** Every open state has the moment at which the clock ends it; every ending has its content. */
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
      /** The name of the connected device that was sent it. */
      readonly device?: string;
    };

export type EndState =
  | { readonly name: 'COMPLETED'; readonly resultJson: string; readonly resultDigest: string | null }
  | {
      readonly name: Exclude<CallStateName, OpenState['name'] | 'COMPLETED'>;
      readonly error: Failure;
      /** Hash of what a client submitted, so that the same submission again is recognised. */
      readonly resultDigest: string | null;
    };

export interface Approval {
  /** Hash of exactly what an operator is shown. */
  readonly digest: string;
  readonly expiresAt: number;
  readonly reason: string;
  /** What the hook that asked had to say besides. */
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
 * The only moves there are; a test holds it against `isTerminal`, which the wire has for those who make no moves.
 * EXECUTING to EXECUTING is a new attempt.
 */
const NEXT: Readonly<Record<CallStateName, readonly CallStateName[]>> = {
  // Straight to COMPLETED: a hook had the result, and nothing ran.
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
  EXECUTING: ['EXECUTING', 'COMPLETED', 'FAILED', 'TIMED_OUT', 'CANCELLED', 'SEALED'],
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

/** The gate: the one function that changes the state of a call that is recorded. */
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
    timeline: [...call.timeline, timelineEntry(next, at)],
  };
}

/** The gate for a call that goes through several states with its first commit. Answers with the last of them. */
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

/** Whether the call's tool runs in this process; otherwise a client or its device runs it. */
export function runsHere({ clientId }: Pick<Call, 'clientId'>): boolean {
  return clientId === null;
}

export function isOpen(call: Call): call is Call & { readonly state: OpenState } {
  return !isTerminal(call.state.name);
}

/** When the call ended; null while it is open. */
export function endedAt(call: Call): number | null {
  return isOpen(call) ? null : lastEntry(call).at;
}

/** How many attempts were begun. */
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
