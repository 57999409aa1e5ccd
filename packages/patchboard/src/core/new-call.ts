import type { Admission } from './admission.ts';
import { approvalDigest } from './approvals.ts';
import { move, timelineEntry, type Approval, type Call, type CallState } from './call.ts';
import type { CallRequest } from './intake.ts';
import { callRow, firstCallRow, permissionRequiredRow, type LedgerDraft } from './ledger.ts';
import type { Digest, Ids } from './ports.ts';
import type { Principal } from './principal.ts';
import type { RegisteredTool } from './registry.ts';

export interface NewCallFacts {
  readonly id: string;
  readonly request: CallRequest;
  readonly principal: Principal;
  readonly tool: RegisteredTool;
  readonly admission: Admission;
  /** It goes through all of them with its first commit. */
  readonly states: readonly CallState[];
  readonly now: number;
}

/** The call as it is first recorded, with one ledger row for each state it has gone through. */
export function newCall(
  { ids, digest }: { ids: Ids; digest: Digest },
  facts: NewCallFacts,
): { call: Call; entries: LedgerDraft[] } {
  const { states, now } = facts;
  const [first, ...rest] = states;
  if (first === undefined) throw new Error('a call has at least one state');
  let call = begin(facts, first, ids);
  for (const state of rest) call = move(call, state, now, approvalOf(digest, call, state));
  const argsHash = digest.sha256(call.argsJson);
  const entries = call.timeline.map((entry, index) =>
    index === 0 ? firstCallRow(call, entry, argsHash) : callRow(call, entry),
  );
  if (call.approval !== null) entries.push(permissionRequiredRow(call, call.approval, now));
  return { call, entries };
}

function begin(
  { id, request, principal, tool, admission, now }: NewCallFacts,
  state: CallState,
  ids: Ids,
): Call {
  const clientId = tool.runsOn.kind === 'client' ? tool.runsOn.clientId : null;
  return {
    id,
    tenant: principal.tenant,
    runId: request.runId,
    agentId: principal.agentId,
    toolName: tool.name,
    toolVersion: tool.version,
    source: tool.source,
    clientId,
    target: request.target,
    argsJson: JSON.stringify(admission.args),
    argsRedacted: false,
    timeoutMs: tool.timeoutMs,
    sandbox: tool.runsOn.kind === 'server' ? (tool.runsOn.tool.sandbox ?? null) : null,
    traceId: request.traceId,
    spanId: request.spanId,
    replayOf: request.replayOf,
    fence: clientId === null ? null : ids.secret(128),
    createdAt: now,
    decision: admission.decision,
    version: 0,
    state,
    approval: null,
    timeline: [timelineEntry(state, now)],
  };
}

function approvalOf(digest: Digest, call: Call, state: CallState): Approval | null {
  if (state.name !== 'APPROVAL_REQUIRED') return null;
  const { reason, meta } = call.decision;
  return {
    digest: approvalDigest(digest, call),
    expiresAt: state.deadlineAt,
    reason,
    ...(meta === undefined ? {} : { meta }),
    decision: null,
    decidedBy: null,
    decidedAt: null,
    note: null,
    originalArgsJson: null,
  };
}
