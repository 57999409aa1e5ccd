import {
  ENGLISH,
  FAILURE_CODES,
  FAILURE_TABLE,
  reason,
  reasonsText,
  type FailureCode,
  type InputIssueView,
  type OutcomeKnowledge,
  type Reason,
  type ReasonView,
} from '@patchboard/wire';
import type { Allowance } from './access/token-buckets.ts';

interface FailureMeaning {
  readonly retryable: boolean;
  readonly summary: string;
}

/** Every failure code with its meaning. Each transport maps them to its own vocabulary. */
export const FAILURES: Readonly<Record<FailureCode, FailureMeaning>> = Object.fromEntries(
  FAILURE_CODES.map((code) => [
    code,
    { retryable: FAILURE_TABLE[code].retryable, summary: ENGLISH[code]({}) },
  ]),
) as Readonly<Record<FailureCode, FailureMeaning>>;

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
  readonly reasons?: readonly ReasonView[];
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
  why: FailureReason = reason(code),
  extra: Partial<Omit<Failure, 'code' | 'message'>> = {},
): Failure {
  return {
    code,
    ...messageOfReasons(code, why),
    retryable: isRetryable(code, extra.outcome, false),
    ...extra,
  };
}

/** Why something failed: a reason, several, or words that have no code. */
export type FailureReason = string | ReasonView | readonly ReasonView[];

/** The same with "permission denied" before it. */
export function denied(...reasons: readonly ReasonView[]): Reason {
  return reason('denied', { reasons });
}

function messageOfReasons(code: FailureCode, why: FailureReason): Pick<Failure, 'message' | 'reasons'> {
  if (typeof why === 'string') return { message: why };
  const reasons = 'code' in why ? [why] : why;
  const message = reasonsText(reasons);
  // A tool may use a code that has no sentence here.
  return message === '' ? { message: FAILURES[code].summary } : { message, reasons };
}

/** What is wrong, without where; the words of another where the issue has no reasons. */
export function problemOf({ message, reasons }: InputIssueView): readonly ReasonView[] {
  return reasons ?? [reason('text', { text: message })];
}

/** How a recorded call ended. `idempotent`: whether its tool is. */
export function endFailure(
  code: FailureCode,
  why: FailureReason,
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
