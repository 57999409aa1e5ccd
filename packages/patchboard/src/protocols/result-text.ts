import type { Failure } from '../core/failures.ts';

/** A value as a model reads it: text as it is, anything else as JSON. */
export function valueText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? 'null');
}

/** What went wrong and what to do about it, as a model reads it. A hook that denies may have the answer ready. */
export function failureText({ code, message, recommendations = [], toolResult }: Failure): string {
  if (toolResult !== undefined) return valueText(toolResult);
  return [`${code}: ${message}`, ...recommendations].join('\n');
}
