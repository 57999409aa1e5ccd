import { parseTime } from '@patchboard/wire';
import { UsageError } from './exit-codes.ts';

const UNIT_MS: ReadonlyMap<string, number> = new Map([
  ['s', 1000],
  ['m', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
  ['w', 604_800_000],
]);

/** Parses a duration in whole numbers: `90s`, `30m`, `12h`, `30d`, `2w`. */
export function durationMs(flag: string, given: string): number {
  const match = /^(\d{1,9})([smhdw])$/.exec(given.trim());
  const ms = Number(match?.[1]) * (UNIT_MS.get(match?.[2] ?? '') ?? Number.NaN);
  if (ms > 0) return ms;
  throw new UsageError(`${flag}: "${given}" is not a duration such as 90s, 30m, 12h or 30d`);
}

/** Parses a point in time: a duration from now, or RFC 3339. */
export function momentOf(flag: string, given: string, now: number): number {
  if (/^\d+[a-z]$/.test(given.trim())) return now + durationMs(flag, given);
  // The wire format accepts bare numbers as epoch seconds; here "30" is a duration without its unit.
  const at = /^\d+$/.test(given) ? null : parseTime(given);
  if (at === null) throw new UsageError(`${flag}: "${given}" is neither a duration such as 30d nor RFC 3339`);
  if (at <= now) throw new UsageError(`${flag}: ${given} is in the past`);
  return at;
}

/** Formats the remaining time: `9:58`, `2 h 05 m`, `3 d 4 h`. */
export function timeLeft(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  const two = (value: number): string => String(value).padStart(2, '0');
  if (seconds < 3600) return `${Math.floor(seconds / 60)}:${two(seconds % 60)}`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h ${two(Math.floor((seconds % 3600) / 60))} m`;
  return `${Math.floor(seconds / 86_400)} d ${Math.floor((seconds % 86_400) / 3600)} h`;
}
