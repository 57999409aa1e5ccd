/** Where a tenant's call comes from. A tool may read it; it grants nothing. An API adds members of its own by merging. */
export interface CallOrigin {
  readonly siteId: string;
  readonly userId?: string;
  readonly sessionId?: string;
  /** The trace id in the body, where it is another than the one in the header. */
  readonly contextTraceId?: string;
  /** W3C trace context beside the caller's own trace id. */
  readonly traceparent?: string;
}

/** As ledger rows and log lines have it: every member but the trace context, in snake case. */
export function originFields(origin: CallOrigin | null): Record<string, string | undefined> {
  if (origin === null) return {};
  const { traceparent: _handedOn, ...members } = origin;
  return Object.fromEntries(Object.entries(members).map(([name, value]) => [snakeCase(name), value]));
}

function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
