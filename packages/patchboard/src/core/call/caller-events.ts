import { messageOf } from '../failures.ts';
import type { EventFeed } from '../ledger/events.ts';
import type { Clock, Log } from '../ports.ts';
import type { InProcessCaller, LiveCall } from './live-call.ts';

/** The names of the call in a log line. */
export function logNames({ call }: LiveCall): Record<string, unknown> {
  return {
    tool_call_id: call.id,
    tool_name: call.toolName,
    run_id: call.runId,
    agent_id: call.agentId,
    tenant_id: call.tenant,
    trace_id: call.traceId,
  };
}

/** Calls a listener of the caller. An exception of the listener does not fail the tool. */
export function notifyCaller(
  log: Log,
  live: LiveCall,
  eventType: string,
  notify: (caller: InProcessCaller) => void,
): void {
  try {
    notify(live.caller);
  } catch (error) {
    const problem = `the caller's listener failed: ${messageOf(error)}`;
    log.warn('call.event_dropped', { ...logNames(live), event_type: eventType, problem });
  }
}

/** Publishes a progress report of an open call. `data` is redacted. */
export function publishProgress(
  { feed, clock, log }: { feed: Pick<EventFeed, 'progress'>; clock: Clock; log: Log },
  live: LiveCall,
  data: unknown,
): void {
  feed.progress(live.call, clock.now(), data);
  notifyCaller(log, live, 'progress', (caller) => caller.onProgress?.(data));
}
