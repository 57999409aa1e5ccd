import { isFailureCode } from '@patchboard/wire';
import {
  failure,
  isRetryable,
  messageOf,
  RETRYABLE_BY_OUTCOME,
  ToolFailure,
  type Failure,
} from '../failures.ts';
import { jsonCopy } from '../json/json-copy.ts';

/** In characters; what a model or an operator reads of an error has an end. */
const MESSAGE_LENGTH = 8192;

/** What a tool threw, as a failure that can be kept, whatever it is that it threw. `idempotent`: whether the tool is. */
export function failureOfThrown(thrown: unknown, idempotent: boolean): Failure {
  if (thrown instanceof ToolFailure) return failureOnPurpose(thrown, idempotent);
  return failure('tool_failed', boundedMessage(textOf(thrown)));
}

/** A tool says itself whether a retry may help, unless it also says an outcome that decides it. */
function failureOnPurpose({ failure: given }: ToolFailure, idempotent: boolean): Failure {
  const kept = jsonCopy(given) as Failure | undefined;
  if (kept === undefined || !isFailureCode(kept.code) || typeof kept.message !== 'string')
    return failure('tool_failed', 'the tool failed with something that is no failure');
  const { code, outcome } = kept;
  const isDecided = outcome !== undefined && RETRYABLE_BY_OUTCOME.has(code);
  const retryable = isDecided ? isRetryable(code, outcome, idempotent) : kept.retryable;
  return { ...kept, message: boundedMessage(kept.message), retryable };
}

/** Even to look at what was thrown may throw. */
function textOf(thrown: unknown): string {
  try {
    return String(messageOf(thrown));
  } catch {
    return 'threw something that cannot be read';
  }
}

export function boundedMessage(message: string): string {
  if (message.length <= MESSAGE_LENGTH) return message;
  return `${message.slice(0, MESSAGE_LENGTH)}… (${message.length} characters)`;
}
