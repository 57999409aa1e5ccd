/** RFC 3339 with milliseconds, in UTC: how every time but two travels. */
export function rfc3339(epochMs: number): string {
  return new Date(epochMs).toISOString();
}

/** Null when the text is no time. Takes RFC 3339, or epoch seconds as the call record shows them. */
export function parseTime(text: string): number | null {
  if (/^\d{1,12}(\.\d+)?$/.test(text)) return Math.floor(Number(text) * 1000);
  if (!/^\d{4}-\d\d-\d\d/.test(text)) return null;
  const epochMs = Date.parse(text);
  return Number.isNaN(epochMs) ? null : epochMs;
}
