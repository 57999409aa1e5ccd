import { parseTime } from '../time.ts';

/** The largest first, so that a duration is written with as few units as possible. */
const UNITS: readonly (readonly [unit: string, ms: number])[] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
  ['ms', 1],
];
const UNIT_MS: ReadonlyMap<string, number> = new Map([...UNITS, ['w', 604_800_000]]);

const DURATION = /^(?:\d{1,12}(?:\.\d{1,6})?(?:ms|[smhdw]))+$/;
const PART = /(\d+(?:\.\d+)?)(ms|[smhdw])/g;
/** Ten years: times before and after it can always be computed. */
const MAX_DURATION_MS = 3_650 * 86_400_000;

/** Parses `500ms`, `2s`, `1m30s`, `1.5h`, `7d` or `2w` to whole milliseconds; null if it is none, or over ten years. */
export function parseDuration(text: string): number | null {
  if (!DURATION.test(text)) return null;
  let ms = 0;
  for (const [, count, unit] of text.matchAll(PART)) {
    ms += Number(count) * (UNIT_MS.get(unit ?? '') ?? Number.NaN);
  }
  return ms <= MAX_DURATION_MS ? Math.round(ms) : null;
}

/** Formats whole milliseconds so that `parseDuration` returns them: `1m30s`, `250ms`. */
export function durationText(ms: number): string {
  if (ms === 0) return '0ms';
  const parts: string[] = [];
  let rest = ms;
  for (const [unit, size] of UNITS) {
    const count = Math.floor(rest / size);
    if (count > 0) parts.push(`${count}${unit}`);
    rest -= count * size;
  }
  return parts.join('');
}

/**
 * Parses a time to epoch milliseconds: a duration before `now` (`1h`), `now`, a date, RFC 3339 (without a zone: UTC), or
 * epoch seconds of 9 to 11 digits. Returns null if it is none of them. The same text means the same time everywhere.
 */
export function parseMoment(text: string, now: number): number | null {
  if (text.toLowerCase() === 'now') return now;
  const ago = parseDuration(text);
  if (ago !== null) return now - ago;
  // A shorter number is more likely a duration without its unit.
  return /^\d{9,11}(\.\d+)?$|^\d{4}-/.test(text) ? parseTime(text) : null;
}

/** Formats a time as short as `parseMoment` reads it back: a date, or RFC 3339 without needless zeros. */
export function momentText(epochMs: number): string {
  return new Date(epochMs)
    .toISOString()
    .replace(/\.000Z$/, 'Z')
    .replace(/T00:00:00Z$/, '');
}
