import { isFailureCode, reason } from '@patchboard/wire';
import {
  failure,
  foreignText,
  isRetryable,
  messageOf,
  RETRYABLE_BY_OUTCOME,
  ToolFailure,
  type Failure,
} from '../failures.ts';
import { jsonCopy } from '../json/json-copy.ts';

/** Maximum length of an error message, in characters. */
const MESSAGE_LENGTH = 8192;

/** Converts whatever a tool threw to a failure that can be stored. `idempotent`: whether the tool is. */
export function failureOfThrown(thrown: unknown, idempotent: boolean): Failure {
  if (thrown instanceof ToolFailure) return deliberateFailure(thrown, idempotent);
  const message = textOf(thrown);
  if (message === null) return failure('tool_failed', reason('tool_threw_unreadable'));
  return failure('tool_failed', foreignText(boundedMessage(message)));
}

/** The tool decides `retryable`, unless its code and outcome determine it. */
function deliberateFailure({ failure: given }: ToolFailure, idempotent: boolean): Failure {
  const kept = jsonCopy(given) as Failure | undefined;
  if (kept === undefined || !isFailureCode(kept.code) || typeof kept.message !== 'string')
    return failure('tool_failed', reason('tool_threw_no_failure'));
  const { code, outcome } = kept;
  const isDecided = outcome !== undefined && RETRYABLE_BY_OUTCOME.has(code);
  const retryable = isDecided ? isRetryable(code, outcome, idempotent) : kept.retryable;
  return { ...kept, message: boundedMessage(kept.message), retryable };
}

/** Returns null if reading the thrown value throws. */
function textOf(thrown: unknown): string | null {
  try {
    return String(messageOf(thrown));
  } catch {
    return null;
  }
}

export function boundedMessage(message: string): string {
  if (message.length <= MESSAGE_LENGTH) return message;
  return `${message.slice(0, MESSAGE_LENGTH)}… (${message.length} characters)`;
}
