import type { Failure } from '../core/failures.ts';

/** A value as a model reads it: text as it is, anything else as JSON. */
export function valueText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? 'null');
}

/** What went wrong and what to do about it, as a model reads it. */
export function failureText({ code, message, recommendations = [] }: Failure): string {
  return [`${code}: ${message}`, ...recommendations].join('\n');
}
