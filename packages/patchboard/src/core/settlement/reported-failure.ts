import { failure, foreignText, messageOf, type Failure } from '../failures.ts';
import { isRecord } from '../json/is-record.ts';
import { boundedMessage } from './error-to-failure.ts';

/** Whether an in-process tool returned `{ ok: false, … }` or `{ _thrownError: … }` in place of a result. */
export function isReportedFailure(value: unknown): value is Record<string, unknown> {
  if (!isRecord(value)) return false;
  try {
    return value['ok'] === false || Boolean(value['_thrownError']);
  } catch {
    // A getter throws: encoding the value as JSON fails too, and reports it.
    return false;
  }
}

/** `json`: the returned value as JSON text. All of it becomes `toolResult`, which the model reads. */
export function reportedFailure(value: Record<string, unknown>, json: string): Failure {
  const toolResult = JSON.parse(json) as Record<string, unknown>;
  // JSON.stringify encodes an Error as {}.
  for (const member of ['error', '_thrownError'])
    if (value[member] instanceof Error) toolResult[member] = messageOf(value[member]);
  const recommendations = textsIn(toolResult['recommendations']);
  const message = errorText(toolResult['error']) ?? errorText(toolResult['_thrownError']);
  return failure('tool_failed', message === undefined ? undefined : foreignText(message), {
    ...(recommendations.length === 0 ? {} : { recommendations }),
    toolResult,
  });
}

/** Returns undefined if there is no text, so that the code's default message is used. */
function errorText(error: unknown): string | undefined {
  if (error === undefined || error === null || error === true || error === '') return undefined;
  return boundedMessage(typeof error === 'string' ? error : JSON.stringify(error));
}

function textsIn(given: unknown): readonly string[] {
  return Array.isArray(given) ? given.filter((item) => typeof item === 'string') : [];
}
