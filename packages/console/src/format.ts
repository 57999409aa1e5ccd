import { contentText, isContentValue, parseTime, readableDuration } from '@patchboard/wire';

/** Formats values in the selected language. */

export function duration(ms: number | null): string {
  return ms === null ? '–' : readableDuration(ms);
}

/** A round duration, as the label of an axis. */
export function shortDuration(ms: number): string {
  const unit = AXIS_UNITS.find(({ size }) => ms >= size);
  return unit === undefined ? `${ms} ms` : `${Number((ms / unit.size).toFixed(1))} ${unit.name}`;
}

const AXIS_UNITS = [
  { name: 'd', size: 86_400_000 },
  { name: 'h', size: 3_600_000 },
  { name: 'min', size: 60_000 },
  { name: 's', size: 1000 },
];

/** Below this, the steps of a histogram are one millisecond. */
const EXACT_MS = 64;

/** The highest duration of a step of a histogram: an upper bound, rounded up. */
export function longestText(ms: number | null): string {
  if (ms === null || ms < EXACT_MS) return duration(ms);
  const precision = ms < 1000 ? 1 : ms < 60_000 ? 100 : 1000;
  return `≤ ${duration(Math.ceil(ms / precision) * precision)}`;
}

/** Accepts RFC 3339 text or integer epoch seconds. */
function epochOf(at: string | number): number {
  return typeof at === 'number' ? at * 1000 : Date.parse(at);
}

const CLOCK = { hour: '2-digit', minute: '2-digit', second: '2-digit', hour12: false } as const;
const STYLES = {
  clock: CLOCK,
  short: { ...CLOCK, month: '2-digit', day: '2-digit' },
  full: { dateStyle: 'medium', timeStyle: 'medium', hour12: false },
  day: { month: 'short', day: 'numeric' },
  date: { month: '2-digit', day: '2-digit' },
  minute: { hour: '2-digit', minute: '2-digit', hour12: false },
} as const;
/**
 * Cache of formatters, one per style and language: creating one costs more than formatting a page of rows.
 */
const formats = new Map<string, Intl.DateTimeFormat>();

function timeIn(style: keyof typeof STYLES, at: string | number, language: string): string {
  const key = `${style} ${language}`;
  const format = formats.get(key) ?? new Intl.DateTimeFormat(language, STYLES[style]);
  formats.set(key, format);
  return format.format(epochOf(at));
}

export function clockTime(at: string | number, language: string): string {
  return timeIn('clock', at, language);
}

/** The time of a row: of an earlier day the date and the minute. */
export function rowTime(
  at: string | number,
  language: string,
): { readonly date: string; readonly time: string } {
  const isToday = new Date(epochOf(at)).toDateString() === new Date().toDateString();
  if (isToday) return { date: '', time: clockTime(at, language) };
  return { date: timeIn('date', at, language), time: timeIn('minute', at, language) };
}

/** Without the year, for narrow columns. */
export function shortTime(at: string | number, language: string): string {
  return timeIn('short', at, language);
}

export function dayAndTime(at: string | number, language: string): string {
  return timeIn('full', at, language);
}

/** A start of a query in words: a moment in the time zone of the user, anything else, such as `2h`, unchanged. */
export function sinceWords(since: string, language: string): string {
  const at = /^\d{4}-\d\d-\d\d[Tt ]/.test(since) ? parseTime(since) : null;
  return at === null ? since : `≥ ${shortTime(at / 1000, language)}`;
}

export function dayOnly(at: string | number, language: string): string {
  return timeIn('day', at, language);
}

/** The name of the time zone of the user at a moment, such as "GMT+8". */
export function zoneName(at: string | number, language: string): string {
  const parts = new Intl.DateTimeFormat(language, { timeZoneName: 'short' }).formatToParts(epochOf(at));
  return parts.find(({ type }) => type === 'timeZoneName')?.value ?? 'UTC';
}

/** A time as the value of a `datetime-local` field; empty if it is none. */
export function localInput(at: string): string {
  const epoch = Date.parse(at);
  if (Number.isNaN(epoch)) return '';
  const offsetMs = new Date(epoch).getTimezoneOffset() * 60_000;
  return new Date(epoch - offsetMs).toISOString().slice(0, 16);
}

/** Percent; a dash if there was nothing to divide. */
export function percentText(percent: number | null): string {
  return percent === null ? '–' : `${percent.toFixed(1)} %`;
}

const counts = new Map<string, Intl.NumberFormat>();

function countIn(notation: 'standard' | 'compact', count: number, language: string): string {
  const key = `${notation} ${language}`;
  const format = counts.get(key) ?? new Intl.NumberFormat(language, { notation, maximumFractionDigits: 1 });
  counts.set(key, format);
  return format.format(count);
}

export function countText(count: number, language: string): string {
  return countIn('standard', count, language);
}

/** As the label of an axis: `30K`, in Chinese `3万`. */
export function shortCount(count: number, language: string): string {
  return countIn(count < SHORTENED ? 'standard' : 'compact', count, language);
}

/** Counts below have few digits enough. */
const SHORTENED = 10_000;

/** A rate with its significant digits. */
export function rateText(rate: number, language: string): string {
  if (rate > 0 && rate < 0.01) return '< 0.01';
  return rate < 10 ? String(Math.round(rate * 100) / 100) : countText(Math.round(rate), language);
}

/** "3 minutes ago". Never in the future: the clock of the page ticks once a second, and that of the server may be ahead. */
export function ago(at: string | number, now: number, language: string): string {
  return fromNow(at, Math.max(now, epochOf(at)), language);
}

/** "3 minutes ago" or "in 3 minutes". */
export function fromNow(at: string | number, now: number, language: string): string {
  const ms = epochOf(at) - now;
  const format = new Intl.RelativeTimeFormat(language, { numeric: 'auto', style: 'short' });
  for (const { unit, size, below } of RELATIVE_UNITS) {
    const count = Math.round(ms / size);
    if (Math.abs(count) < below) return format.format(count, unit);
  }
  return format.format(Math.round(ms / 86_400_000), 'day');
}

/** `below`: the number that makes one of the next unit. */
const RELATIVE_UNITS = [
  { unit: 'second', size: 1000, below: 60 },
  { unit: 'minute', size: 60_000, below: 60 },
  { unit: 'hour', size: 3_600_000, below: 24 },
] as const;

/** Remaining time in minutes and seconds; never below zero. */
export function countdown(until: string, now: number): string {
  const left = Math.max(0, Math.ceil((Date.parse(until) - now) / 1000));
  return `${Math.floor(left / 60)}:${String(left % 60).padStart(2, '0')}`;
}

export function prettyJson(value: unknown): string {
  return JSON.stringify(value, null, 2) ?? 'undefined';
}

/** Truncates the text to one line of at most `chars` characters. */
export function brief(value: unknown, chars: number): string {
  const text = briefText(value);
  return text.length > chars ? `${text.slice(0, chars)}…` : text;
}

/** Content as text, which names pictures. */
function briefText(value: unknown): string {
  if (isContentValue(value)) return contentText(value);
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}
