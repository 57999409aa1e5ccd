/** RFC 3339 with milliseconds, in UTC: the format of all times except `created_at` and `completed_at` of a call. */
export function rfc3339(epochMs: number): string {
  return new Date(epochMs).toISOString();
}

const DATE_AND_TIME = /^(\d{4}-\d\d-\d\d)(?:[Tt ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)([Zz]|[+-]\d\d:?\d\d)?)?$/;

/**
 * Parses a date, RFC 3339 (without a zone: UTC), or epoch seconds as in the call record. Returns null if the text is none of
 * them. The same text means the same time everywhere.
 */
export function parseTime(text: string): number | null {
  if (/^\d{1,12}(\.\d+)?$/.test(text)) return Math.floor(Number(text) * 1000);
  // `Date.parse` takes other texts too, without a zone for the local time of this machine.
  const [, day, time = '00:00', zone = 'Z'] = DATE_AND_TIME.exec(text) ?? [];
  if (day === undefined || !isDay(day)) return null;
  const epochMs = Date.parse(`${day}T${time}${zone.toUpperCase()}`);
  return Number.isNaN(epochMs) ? null : epochMs;
}

/** `Date.parse` takes 30 February for 2 March. */
function isDay(day: string): boolean {
  const midnight = Date.parse(day);
  return !Number.isNaN(midnight) && new Date(midnight).toISOString().slice(0, 10) === day;
}
