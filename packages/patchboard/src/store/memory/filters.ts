import type { Call } from '../../core/call/call.ts';
import { isEventKind } from '../../core/ledger/event-kinds.ts';
import type { EventRowFilter } from '../../core/ledger/event-slice.ts';
import type { LedgerRow } from '../../core/ledger/ledger.ts';
import type { CallFilter, CommittedRow, LedgerFilter } from '../../core/ports.ts';

export function matchesCall(call: Call, filter: CallFilter): boolean {
  return (
    call.tenant === filter.tenant &&
    (filter.runId === undefined || call.runId === filter.runId) &&
    (filter.toolName === undefined || call.toolName === filter.toolName) &&
    (filter.agentId === undefined || call.agentId === filter.agentId) &&
    (filter.askedOrRunBy === undefined || isParty(call, filter.askedOrRunBy)) &&
    (filter.states === undefined || filter.states.includes(call.state.name)) &&
    (filter.since === undefined || call.createdAt >= filter.since) &&
    (filter.until === undefined || call.createdAt < filter.until)
  );
}

export function matchesEvent({ row, call }: CommittedRow, filter: EventRowFilter): boolean {
  const { tenant, callId, askedOrRunBy } = filter;
  if (row.tenant !== tenant || !isEventKind(row.kind)) return false;
  if (callId !== undefined && row.callId !== callId) return false;
  if (askedOrRunBy === undefined || row.callId === null) return true;
  return call !== null && isParty(call, askedOrRunBy);
}

function isParty(call: Call, { agentId, clientId }: NonNullable<CallFilter['askedOrRunBy']>): boolean {
  return call.agentId === agentId || (clientId !== null && call.clientId === clientId);
}

export function matchesRow(row: LedgerRow, filter: LedgerFilter): boolean {
  return (
    (filter.tenant === undefined || row.tenant === filter.tenant) &&
    (filter.callId === undefined || row.callId === filter.callId) &&
    (filter.traceId === undefined || row.traceId === filter.traceId) &&
    (filter.kinds === undefined || filter.kinds.includes(row.kind)) &&
    (filter.from === undefined || row.at >= filter.from) &&
    (filter.to === undefined || row.at < filter.to)
  );
}
