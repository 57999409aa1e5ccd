import {
  FAILURE_CODES,
  FAILURE_TABLE,
  reasonsText,
  type FailureCode,
  type InputIssueView,
  type OutcomeKnowledge,
  type Reason,
} from '@patchboard/wire';
import type { Allowance } from './access/token-buckets.ts';

/** What each code means. The rest of what follows from a code is in `FAILURE_TABLE`. */
const SUMMARIES: Readonly<Record<FailureCode, string>> = {
  tool_not_found: 'there is no tool of that name here',
  method_not_found: 'the module has no such method',
  method_not_callable: 'agents may not call this method',
  call_not_found: 'no such call',
  run_not_found: 'no such run',
  key_not_found: 'no such key',
  grant_not_found: 'no such grant',
  route_not_found: 'no such route',
  method_not_allowed: 'the route takes another HTTP method',
  input_invalid: "the arguments do not fit the tool's schema",
  body_invalid: 'the request is not what the route takes',
  content_type: 'the body is not application/json',
  too_large: 'the request is larger than the limit',
  auth_required: 'a credential is needed',
  permission_denied: 'the policy or the credential does not allow this',
  hook_denied: 'a hook did not allow this',
  approval_denied: 'an operator said no',
  approval_expired: 'nobody decided in time',
  name_invalid: 'the name is outside the rule',
  name_taken: 'the name belongs to another tool',
  schema_invalid: 'the schema cannot be compiled within limits',
  conflict: 'the state that stands does not allow this',
  idempotency_mismatch: 'the key was used with another body',
  rate_limited: 'too many requests',
  queue_full: 'too many calls are waiting',
  queue_timeout: 'no slot came free in time; the call did not start',
  overloaded: 'the server is too busy',
  provider_offline: 'nobody who can run the tool is connected',
  provider_disconnected: 'the provider went away during the call',
  timeout: 'no result before the deadline',
  cancelled: 'the call was cancelled',
  interrupted: 'the server stopped during the call',
  value_not_found: 'a value in the arguments names nothing that there is',
  tool_failed: 'the tool reported a failure',
  output_invalid: "the result does not fit the tool's output schema",
  result_too_large: 'the result is larger than the limit',
  result_invalid: 'what the provider sent as the result cannot be read',
  sandbox_unavailable: 'no sandbox can run this tool',
  upstream_unreachable: 'a service the tool needs did not answer',
  storage_full: 'the store has no room; nothing was recorded',
  storage_unavailable: 'the data folder is not available; nothing was recorded',
  misdirected: 'the Host header names another server',
  internal: 'a fault in the server',
};

interface FailureMeaning {
  readonly retryable: boolean;
  readonly summary: string;
}

export const FAILURES: Readonly<Record<FailureCode, FailureMeaning>> = Object.fromEntries(
  FAILURE_CODES.map((code) => [code, { retryable: FAILURE_TABLE[code].retryable, summary: SUMMARIES[code] }]),
) as Record<FailureCode, FailureMeaning>;

/**
 * A call that ended with one of these may succeed when it is made again. Whether that is safe depends on what the first
 * one did. Every other code keeps its own row: a call that was denied, cancelled or invalid did not start either.
 */
export const RETRYABLE_BY_OUTCOME: ReadonlySet<FailureCode> = new Set<FailureCode>([
  'timeout',
  'provider_disconnected',
  'provider_offline',
  'interrupted',
  'queue_timeout',
  'queue_full',
  'upstream_unreachable',
]);

/** The one place that decides `retryable`: a second call must not repeat an effect that the first may have had. */
export function isRetryable(
  code: FailureCode,
  outcome: OutcomeKnowledge | undefined,
  idempotent: boolean,
): boolean {
  if (outcome === undefined || !RETRYABLE_BY_OUTCOME.has(code)) return FAILURES[code].retryable;
  return outcome === 'not_started' || idempotent;
}

/** A failure as data: what an agent, an operator and a ledger row all see. */
export interface Failure {
  readonly code: FailureCode;
  readonly message: string;
  /** What the message was made from. Absent: the words are those of a tool, a client or a library, or of a former version. */
  readonly reasons?: readonly Reason[];
  readonly retryable: boolean;
  readonly outcome?: OutcomeKnowledge;
  readonly recommendations?: readonly string[];
  readonly note?: string;
  /** What the model reads in place of the error: from a hook that denied, or the value by which a tool reported a failure. */
  readonly toolResult?: unknown;
  /** What exactly is wrong with an input. Answered to the caller, not stored. */
  readonly issues?: readonly InputIssueView[];
  /** When to come back, and what the limit is. Answered to the caller, not stored. */
  readonly rate?: RateRefusal;
}

export interface RateRefusal extends Allowance {
  /** Which of the limits it was. */
  readonly policy: 'principal' | 'tenant' | 'tool' | 'address';
}

/** `why`: a reason, several, or words that have no code; the meaning of `code` where there are none. */
export function failure(
  code: FailureCode,
  why: Why = FAILURES[code].summary,
  extra: Partial<Omit<Failure, 'code' | 'message'>> = {},
): Failure {
  return { code, ...messageOfReasons(why), retryable: isRetryable(code, extra.outcome, false), ...extra };
}

export type Why = string | Reason | readonly Reason[];

function messageOfReasons(why: Why): Pick<Failure, 'message' | 'reasons'> {
  if (typeof why === 'string') return { message: why };
  const reasons = 'code' in why ? [why] : why;
  return { message: reasonsText(reasons), reasons };
}

/** How a recorded call ended. `idempotent`: whether its tool is. */
export function endFailure(
  code: FailureCode,
  why: Why,
  outcome: OutcomeKnowledge,
  idempotent: boolean,
): Failure {
  return failure(code, why, { outcome, retryable: isRetryable(code, outcome, idempotent) });
}

/** How a tool ends on purpose with a failure of its own; any other exception is `tool_failed`. */
export class ToolFailure extends Error {
  readonly failure: Failure;

  constructor(given: Failure) {
    super(given.message);
    this.name = 'ToolFailure';
    this.failure = given;
  }
}

/** What a store throws when the disk is full: nothing of the change was kept. */
export class StorageFull extends Error {
  constructor(message = 'the store has no room') {
    super(message);
    this.name = 'StorageFull';
  }
}

/** What a store throws when its files are not where it opened them: nothing of the change was kept. */
export class StorageUnavailable extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'StorageUnavailable';
  }
}

/** The failure of a write that the store refused; null for any other error. */
export function storeFailure(error: unknown): Failure | null {
  if (error instanceof StorageFull) return failure('storage_full');
  if (error instanceof StorageUnavailable) return failure('storage_unavailable', error.message);
  return null;
}

export function messageOf(error: unknown): string {
  if (error instanceof Error) return error.message === '' ? error.name : error.message;
  return typeof error === 'string' ? error : `threw ${typeof error}`;
}
