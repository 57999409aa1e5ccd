/** RFC 3339 with milliseconds, in UTC: the format of all times except `created_at` and `completed_at` of a call. */
export function rfc3339(epochMs: number): string {
  return new Date(epochMs).toISOString();
}

const ZONELESS = /^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)$/;

/**
 * Parses RFC 3339, without a zone as UTC, or epoch seconds as in the call record. Returns null if the text is neither.
 */
export function parseTime(text: string): number | null {
  if (/^\d{1,12}(\.\d+)?$/.test(text)) return Math.floor(Number(text) * 1000);
  if (!/^\d{4}-\d\d-\d\d/.test(text)) return null;
  // `Date.parse` would take it for the local time of this machine.
  const epochMs = Date.parse(text.replace(ZONELESS, '$1T$2Z'));
  return Number.isNaN(epochMs) ? null : epochMs;
}
