/** RFC 3339 with milliseconds, in UTC: the format of all times except `created_at` and `completed_at` of a call. */
export function rfc3339(epochMs: number): string {
  return new Date(epochMs).toISOString();
}

/** Parses RFC 3339, or epoch seconds as in the call record. Returns null if the text is neither. */
export function parseTime(text: string): number | null {
  if (/^\d{1,12}(\.\d+)?$/.test(text)) return Math.floor(Number(text) * 1000);
  if (!/^\d{4}-\d\d-\d\d/.test(text)) return null;
  const epochMs = Date.parse(text);
  return Number.isNaN(epochMs) ? null : epochMs;
}
