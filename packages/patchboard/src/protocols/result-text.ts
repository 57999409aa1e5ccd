import { contentText, isContentValue } from '@patchboard/wire';
import type { Failure } from '../core/failures.ts';

/** The text of a value for a model: strings unchanged, content with names for what text cannot show, anything else as JSON. */
export function valueText(value: unknown): string {
  if (isContentValue(value)) return contentText(value);
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? 'null');
}

/** The text of a failure for a model: the error and what to do about it, or the tool result of a hook that denied. */
export function failureText({ code, message, recommendations = [], toolResult }: Failure): string {
  if (toolResult !== undefined) return valueText(toolResult);
  return [`${code}: ${message}`, ...recommendations].join('\n');
}
