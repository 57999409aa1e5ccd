/** The site, user and session of a tenant's call. A tool may read it; it grants nothing. */
export interface CallOrigin {
  readonly siteId: string;
  readonly userId?: string;
  readonly sessionId?: string;
  /** The character that speaks. */
  readonly npcId?: string;
  /** The trace id in the body, where it is another than the one in the header. */
  readonly contextTraceId?: string;
  /** W3C trace context beside the caller's own trace id. */
  readonly traceparent?: string;
}

/** As ledger rows and log lines have it. */
export function originFields(origin: CallOrigin | null): Record<string, string | undefined> {
  if (origin === null) return {};
  const { siteId, userId, sessionId, npcId, contextTraceId } = origin;
  return {
    site_id: siteId,
    user_id: userId,
    session_id: sessionId,
    npc_id: npcId,
    context_trace_id: contextTraceId,
  };
}
