import { isCallState, isTerminal } from '@patchboard/wire';
import { endedAt, isOpen, type Call } from '../call/call.ts';
import { timesOf } from '../call/call-times.ts';
import { isRecord } from '@patchboard/wire/json';
import type { LedgerKind, LedgerRow } from '../ledger/ledger.ts';
import type { CommittedRow } from '../ports.ts';
import type { IndexedCall, IndexedRefusal } from './call-search.ts';
import type { SearchedCall } from './criteria.ts';
import { INDEXED_CHARACTERS } from './words.ts';

/** The kinds of ledger rows that the index is made from. */
export const INDEXED_KINDS: readonly LedgerKind[] = ['call.state', 'call.refused'];

/** Returns the call that this row ended; null for other rows, and if the call is no longer stored. */
export function endedBy({ row, call }: CommittedRow): IndexedCall | null {
  if (call === null || isOpen(call)) return null;
  return endsCall(row) ? indexedCall(call) : null;
}

export function endsCall(row: Pick<LedgerRow, 'kind' | 'body'>): boolean {
  if (row.kind !== 'call.state') return false;
  const state = bodyOf(row)['state'];
  return isCallState(state) && isTerminal(state);
}

/** Returns null while the call is open. */
export function indexedCall(call: Call): IndexedCall | null {
  const ended = endedAt(call);
  const times = timesOf(call);
  if (ended === null || times === null) return null;
  const { waitedMs, ranMs } = times;
  const hasRun = call.timeline.some(({ state }) => state === 'EXECUTING');
  return { ...searchedCall(call), endedAt: ended, waitedMs, ranMs, hasRun };
}

/** The call as `matchesCriteria` takes it, also while it is open. */
export function searchedCall(call: Call): SearchedCall {
  const { id, tenant, runId, agentId, clientId, toolName, traceId, parentCallId, createdAt, state } = call;
  const times = timesOf(call);
  return {
    id,
    tenant,
    runId,
    agentId,
    clientId,
    toolName,
    state: state.name,
    code: 'error' in state ? state.error.code : null,
    traceId,
    parentCallId,
    createdAt,
    waitedMs: times?.waitedMs ?? null,
    ranMs: times?.ranMs ?? null,
    argsJson: indexedPart(call.argsJson),
  };
}

/** Returns null for rows that are not about a refused request. */
export function indexedRefusal(row: Omit<LedgerRow, 'hash'>): IndexedRefusal | null {
  if (row.kind !== 'call.refused') return null;
  const body = bodyOf(row);
  const { seq, at, tenant, traceId } = row;
  const unrecorded = body['unrecorded'];
  return {
    seq,
    at,
    tenant,
    agentId: textOf(body['agent_id']),
    toolName: textOf(body['tool_name']),
    code: textOf(body['code']),
    message: textOf(body['message']),
    traceId,
    unrecorded: typeof unrecorded === 'number' ? unrecorded : 0,
  };
}

/** A copy, because a part of a string keeps the whole in memory. */
function indexedPart(argsJson: string): string {
  if (argsJson.length <= INDEXED_CHARACTERS) return argsJson;
  return structuredClone(argsJson.slice(0, INDEXED_CHARACTERS));
}

function bodyOf({ body }: Pick<LedgerRow, 'body'>): Record<string, unknown> {
  const parsed: unknown = JSON.parse(body);
  return isRecord(parsed) ? parsed : {};
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
