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
 * Codes of transient failures, for which `retryable` depends on the outcome: whether the first call may have had an effect.
 * All other codes have a fixed `retryable`, because a denied, cancelled or invalid call never started.
 */
export const RETRYABLE_BY_OUTCOME: ReadonlySet<FailureCode> = new Set<FailureCode>([
  'timeout',
  'provider_disconnected',
  'provider_offline',
  'interrupted',
  'queue_timeout',
  'queue_full',
  'upstream_unreachable',
  'input_expired',
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
  /** The reasons that the message was built from. Absent for text from a tool, a client, a library or an older version. */
  readonly reasons?: readonly ReasonView[];
  readonly retryable: boolean;
  readonly outcome?: OutcomeKnowledge;
  readonly recommendations?: readonly string[];
  readonly note?: string;
  /** What the model reads in place of the error: from a denying hook, or the value by which a tool reported a failure. */
  readonly toolResult?: unknown;
  /** The validation errors of an input. Returned to the caller, not stored. */
  readonly issues?: readonly InputIssueView[];
  /** The exceeded rate limit and when to retry. Returned to the caller, not stored. */
  readonly rate?: RateRefusal;
}

export interface RateRefusal extends Allowance {
  /** Which rate limit was exceeded. */
  readonly policy: 'principal' | 'tenant' | 'tool' | 'address';
}

/**
 * `why` defaults to the general meaning of `code`. It is never a sentence: one of ours has a code, any other comes from
 * `foreignText`. The `failure` for tools, which takes texts, is in `sdk/failure.ts`.
 */
export function failure(
  code: FailureCode,
  why: CodedReason = reason(code),
  extra: FailureExtra = {},
): Failure {
  return {
    code,
    ...messageOfReasons(code, why),
    retryable: isRetryable(code, extra.outcome, false),
    ...extra,
  };
}

/** Why something failed: one reason or several. */
export type CodedReason = ReasonView | readonly ReasonView[];

export type FailureExtra = Partial<Omit<Failure, 'code' | 'message'>>;

/** Words of a tool, a client, a library or the operating system. They have no code, and are shown as they are in every language. */
export function foreignText(message: string): Reason<'text'> {
  return reason('text', { text: message });
}

/** Puts "permission denied" before the reasons. */
export function denied(...reasons: readonly ReasonView[]): Reason {
  return reason('denied', { reasons });
}

function messageOfReasons(code: FailureCode, why: CodedReason): Pick<Failure, 'message' | 'reasons'> {
  const reasons = 'code' in why ? [why] : why;
  const message = reasonsText(reasons);
  // Foreign text has no code: the message alone is stored and sent.
  if (reasons.length === 1 && reasons[0]?.code === 'text') return { message };
  // A tool may use a reason code that has no sentence here.
  return message === '' ? { message: FAILURES[code].summary } : { message, reasons };
}

/** What is wrong with an input, without the path. An issue without reasons gets its message as a reason `text`. */
export function problemOf({
  message,
  reasons,
}: Pick<InputIssueView, 'message' | 'reasons'>): readonly ReasonView[] {
  return reasons ?? [foreignText(message)];
}

/** The failure of a recorded call. `idempotent`: whether its tool is. */
export function endFailure(
  code: FailureCode,
  why: CodedReason,
  outcome: OutcomeKnowledge,
  idempotent: boolean,
): Failure {
  return failure(code, why, { outcome, retryable: isRetryable(code, outcome, idempotent) });
}

/** A tool throws this to end with a failure of its choice. Any other exception becomes `tool_failed`. */
export class ToolFailure extends Error {
  readonly failure: Failure;

  constructor(given: Failure) {
    super(given.message);
    this.name = 'ToolFailure';
    this.failure = given;
  }
}

/** A store throws this if the disk is full. Nothing of the change was stored. */
export class StorageFull extends Error {
  constructor(message = 'the store has no room') {
    super(message);
    this.name = 'StorageFull';
  }
}

/**
 * A store throws this if its files were moved or deleted, or its database cannot be reached. Nothing of the change was
 * stored.
 */
export class StorageUnavailable extends Error {
  /** The failure that callers get; the message is for the log of the operator. */
  readonly why: ReasonView;

  constructor(message: string, why: ReasonView = foreignText(message)) {
    super(message);
    this.name = 'StorageUnavailable';
    this.why = why;
  }
}

/** The failure of a write that the store refused; null for any other error. */
export function storeFailure(error: unknown): Failure | null {
  if (error instanceof StorageFull) return failure('storage_full');
  if (error instanceof StorageUnavailable) return failure('storage_unavailable', error.why);
  return null;
}

export function messageOf(error: unknown): string {
  if (error instanceof Error) return error.message === '' ? error.name : error.message;
  return typeof error === 'string' ? error : `threw ${typeof error}`;
}
