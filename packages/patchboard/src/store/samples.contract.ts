import { hash } from 'node:crypto';
import { move, timelineEntry, type Call, type CallState } from '../core/call/call.ts';
import type { InputRound } from '../core/call/input.ts';
import { callRow, type LedgerDraft } from '../core/ledger/ledger.ts';
import type { Digest, ListedRun, NewCall, Run, Store } from '../core/ports.ts';
import type { StoredTool } from '../core/tools/registered-tool.ts';

export const digest: Digest = { sha256: (text) => hash('sha256', text, 'hex') };

export const START = 1_760_000_000_000;

/** The nth call is created n milliseconds after the start, and its id sorts accordingly. */
export function aCall(n: number, given: Partial<Call> = {}): Call {
  const createdAt = given.createdAt ?? START + n;
  const state: CallState = given.state ?? { name: 'PENDING', deadlineAt: createdAt + 30_000 };
  return {
    id: callId(n),
    tenant: 'acme',
    runId: 'run_1',
    agentId: 'agent-1',
    toolName: 'weather.query',
    toolVersion: 'v1',
    source: 'server',
    clientId: null,
    target: null,
    argsJson: `{"n":${n}}`,
    argsRedacted: false,
    sandbox: null,
    timeoutMs: 30_000,
    traceId: null,
    spanId: null,
    replayOf: null,
    parentCallId: null,
    origin: null,
    countsInRun: true,
    acceptsInput: true,
    fence: null,
    createdAt,
    decision: { effect: 'allow', rule: 'default', reason: 'no rule forbids it', policyVersion: 1 },
    version: 1,
    state,
    approval: null,
    inputs: [],
    timeline: [timelineEntry(state, createdAt)],
    ...given,
  };
}

export function callId(n: number): string {
  return `tc_${String(n).padStart(8, '0')}`;
}

export function aRun(given: Partial<Run> = {}): Run {
  return { id: 'run_1', tenant: 'acme', agentId: 'agent-1', createdAt: START, cancelledAt: null, ...given };
}

export function aRecord(call: Call, idempotency: NewCall['idempotency'] = null): NewCall {
  const { tenant, runId: id, agentId } = call;
  return { call, run: aRun({ id, tenant, agentId }), idempotency, entries: rowsOf(call) };
}

/** One ledger row for each timeline entry of the call. */
export function rowsOf(call: Call, from = 0): LedgerDraft[] {
  return call.timeline.slice(from).map((entry) => callRow(call, entry));
}

export function anEntry(given: Partial<LedgerDraft> = {}): LedgerDraft {
  return {
    at: START,
    tenant: 'acme',
    kind: 'registry.changed',
    callId: null,
    traceId: null,
    body: '{}',
    ...given,
  };
}

export function executing(call: Call, at: number = call.createdAt + 1): Call {
  return move(call, { name: 'EXECUTING', deadlineAt: at + 30_000, attempt: 1, cause: null }, at);
}

/** Waits for its caller's response to an input request. */
export function askingForInput(call: Call, at: number = call.createdAt + 2): Call {
  const asked: InputRound = {
    id: 'in_1',
    key: 'city',
    round: 1,
    message: 'Which city?',
    schema: { type: 'string' },
    url: null,
    held: false,
    attempt: 1,
    handlesDecline: false,
    requestedAt: at,
    expiresAt: at + 600_000,
    remainingMs: 1000,
    carryJson: '{"step":1}',
    response: null,
  };
  const state = { name: 'INPUT_REQUIRED', deadlineAt: at + 600_000, attempt: 1, held: false } as const;
  return move({ ...executing(call), inputs: [asked] }, state, at);
}

export function completed(call: Call, at: number = call.createdAt + 2, resultJson = '{"ok":true}'): Call {
  return move(executing(call), { name: 'COMPLETED', resultJson, resultDigest: null }, at);
}

export function failed(call: Call, at: number = call.createdAt + 2): Call {
  const error = { code: 'tool_failed', message: 'it broke', retryable: false } as const;
  return move(executing(call), { name: 'FAILED', error, resultDigest: 'd1' }, at);
}

export function aTool(name: string, given: Partial<StoredTool> = {}): StoredTool {
  return {
    tenant: 'acme',
    clientId: 'phone-1',
    wireName: name.replaceAll('.', '__'),
    spec: { name, schema: { type: 'object' } },
    registeredAt: START,
    ...given,
  };
}

export async function insertAll(store: Store, calls: readonly Call[]): Promise<void> {
  const inserted = await Promise.all(calls.map(async (call) => await store.insertCall(aRecord(call))));
  if (inserted.some(({ kind }) => kind !== 'inserted')) throw new Error('a sample call was not inserted');
}

export function idsOf(calls: readonly Call[]): string[] {
  return calls.map(({ id }) => id);
}

/** Cursors differ from store to store. */
export function withoutCursors(runs: readonly ListedRun[]): Run[] {
  return runs.map(({ cursor: _cursor, ...run }) => run);
}
