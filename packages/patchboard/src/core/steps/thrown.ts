import { isFailureCode } from '@patchboard/wire';
import { failure, messageOf, ToolFailure, type Failure } from '../failures.ts';
import { jsonCopy } from '../json/json-copy.ts';

/** In characters; what a model or an operator reads of an error has an end. */
const MESSAGE_LENGTH = 8192;

/** What a tool threw, as a failure that can be kept, whatever it is that it threw. */
export function failureOfThrown(thrown: unknown): Failure {
  if (thrown instanceof ToolFailure) return failureOnPurpose(thrown);
  return failure('tool_failed', boundedMessage(textOf(thrown)));
}

function failureOnPurpose({ failure: given }: ToolFailure): Failure {
  const kept = jsonCopy(given) as Failure | undefined;
  if (kept === undefined || !isFailureCode(kept.code) || typeof kept.message !== 'string')
    return failure('tool_failed', 'the tool failed with something that is no failure');
  return { ...kept, message: boundedMessage(kept.message) };
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
