import type { Call } from '../core/call/call.ts';
import type { OpenCallFilter } from '../core/ports.ts';

/** Whether an open call matches; without a filter every one does. */
export function matchesOpen(call: Call, of: OpenCallFilter | undefined): boolean {
  if (of === undefined) return true;
  const { tenant, runId = call.runId, clientId = call.clientId } = of;
  return call.tenant === tenant && call.runId === runId && call.clientId === clientId;
}
