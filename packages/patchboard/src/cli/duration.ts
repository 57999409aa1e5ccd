import { parseDuration, parseMoment, readableDuration } from '@patchboard/wire';
import { UsageError } from './exit-codes.ts';

const EXAMPLES = 'a duration such as 90s, 30m, 1h30m or 30d, of at most ten years';

/** The help of `--since`. */
export const SINCE = 'at or after: how long ago, such as 1h or 7d, a date, or RFC 3339';

/** Parses a duration of at least a second: `90s`, `1h30m`, `30d`. */
export function durationMs(flag: string, given: string): number {
  const ms = parseDuration(given.trim());
  if (ms !== null && ms >= 1000) return ms;
  throw new UsageError(`${flag}: "${given}" is not ${EXAMPLES}`);
}

/** Parses a point in the future: a duration from now, or RFC 3339. */
export function futureMoment(flag: string, given: string, now: number): number {
  const text = given.trim();
  const at = /^[\d.]+[a-z]/.test(text) ? now + durationMs(flag, text) : momentOrNull(text, now);
  if (at === null) throw new UsageError(`${flag}: "${given}" is neither ${EXAMPLES}, nor RFC 3339`);
  if (at <= now) throw new UsageError(`${flag}: ${given} is in the past`);
  return at;
}

/** Parses a point in the past or present: how long ago, such as `1h`, a date, or RFC 3339. */
export function pastMoment(flag: string, given: string, now: number): Date {
  const at = momentOrNull(given.trim(), now);
  if (at !== null) return new Date(at);
  throw new UsageError(
    `${flag}: "${given}" is neither how long ago, such as 1h or 7d, nor a date or RFC 3339`,
  );
}

/** Returns whether a record was created at or after `--since`; true for all without it. */
export function createdSince(
  given: string | undefined,
  now: number,
): (record: { readonly created_at: string }) => boolean {
  const from = given === undefined ? -Infinity : pastMoment('--since', given, now).getTime();
  return (record) => Date.parse(record.created_at) >= from;
}

/** The grammar accepts bare numbers as epoch seconds; here "30" is a duration without its unit. */
function momentOrNull(text: string, now: number): number | null {
  return /^\d+$/.test(text) ? null : parseMoment(text, now);
}

/** The cell of a table for a duration; empty if it is not known yet. */
export function durationCell(ms: number | null | undefined): string {
  return ms === null || ms === undefined ? '' : readableDuration(ms);
}

/** Formats the remaining time: `9:58`, `2 h 05 m`, `3 d 4 h`. */
export function timeLeft(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  const two = (value: number): string => String(value).padStart(2, '0');
  if (seconds < 3600) return `${Math.floor(seconds / 60)}:${two(seconds % 60)}`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h ${two(Math.floor((seconds % 3600) / 60))} m`;
  return `${Math.floor(seconds / 86_400)} d ${Math.floor((seconds % 86_400) / 3600)} h`;
}
