import type { Admission } from './admission.ts';
import { approvalDigest } from '../call/approval-digest.ts';
import { endState } from '../call/end-state.ts';
import {
  pathOf,
  runsInProcess,
  timelineEntry,
  type Approval,
  type Call,
  type CallState,
  type TimelineEntry,
} from '../call/call.ts';
import type { CallRequest } from '../call/call-request.ts';
import { normalizedInput } from '../call/input-kinds.ts';
import { offeredInputs } from '../call/offered-inputs.ts';
import { callRow, firstCallRow, permissionRequiredRow, type LedgerDraft } from '../ledger/ledger.ts';
import type { BadOutcome } from '../call/outcome.ts';
import type { Digest, Ids } from '../ports.ts';
import type { Principal } from '../access/principal.ts';
import type { RegisteredTool } from '../tools/registered-tool.ts';
import { shownName } from '../tools/tool-names.ts';

export interface NewCallFacts {
  readonly id: string;
  readonly request: CallRequest;
  readonly principal: Principal;
  readonly tool: Pick<RegisteredTool, 'name' | 'version' | 'source' | 'timeoutMs' | 'clientId' | 'sandbox'>;
  readonly admission: Admission;
  /** The states that the call goes through in its first commit. */
  readonly states: readonly CallState[];
  /** See `Call.pinned`. Default: false. */
  readonly isPinned?: boolean;
  readonly now: number;
}

/** Returns the call as it is first recorded, with one ledger row for each of its states. */
export function newCall(
  { ids, digest }: { ids: Ids; digest: Digest },
  facts: NewCallFacts,
): { call: Call; entries: LedgerDraft[] } {
  const unapproved = withoutApproval(facts, ids);
  const approval = approvalOf(digest, unapproved);
  const call = approval === null ? unapproved : { ...unapproved, approval };
  const argsHash = digest.sha256(call.argsJson);
  const entries = call.timeline.map((entry, index) =>
    index === 0 ? firstCallRow(call, entry, argsHash) : callRow(call, entry, resultHash(digest, call, entry)),
  );
  if (call.approval !== null) entries.push(permissionRequiredRow(call, call.approval, facts.now));
  return { call, entries };
}

/** Returns a call that is recorded directly in an end state. For an unknown tool only the name is recorded. */
export function endedCall(
  parts: { ids: Ids; digest: Digest },
  facts: Omit<NewCallFacts, 'tool' | 'admission' | 'states'> & { readonly tool: RegisteredTool | undefined },
  outcome: BadOutcome,
): { call: Call; entries: LedgerDraft[] } {
  const { request, now } = facts;
  const { message, reasons } = outcome.failure;
  const why = { reason: message, ...(reasons === undefined ? {} : { reasons }) };
  const decision = { effect: 'deny', rule: 'intake', ...why, policyVersion: 0 } as const;
  const admission: Admission = { decision, args: request.args, suppliedResult: null, toolResult: undefined };
  const states = [{ name: 'PENDING', deadlineAt: now }, endState(outcome, null)] as const;
  const tool = facts.tool ?? { ...UNKNOWN_TOOL, name: shownName(request.toolName) };
  return newCall(parts, { ...facts, tool, admission, states });
}

const UNKNOWN_TOOL = { version: '', source: 'server', timeoutMs: 0, clientId: null, sandbox: null } as const;

function withoutApproval(
  { id, request, principal, tool, admission, states, isPinned = false, now }: NewCallFacts,
  ids: Ids,
): Call {
  return {
    id,
    tenant: principal.tenant,
    runId: request.runId,
    countsInRun: request.countsInRun ?? true,
    agentId: principal.agentId,
    toolName: tool.name,
    toolVersion: tool.version,
    source: tool.source,
    clientId: tool.clientId,
    target: request.target ?? null,
    argsJson: jsonOf(admission.args, request),
    argsRedacted: false,
    timeoutMs: tool.timeoutMs,
    sandbox: tool.sandbox,
    traceId: request.traceId ?? null,
    spanId: request.spanId ?? null,
    origin: request.origin ?? null,
    replayOf: request.replayOf ?? null,
    parentCallId: request.parentCallId ?? null,
    acceptsInput: normalizedInput(request.acceptsInput),
    fence: runsInProcess(tool) ? null : ids.secret(128),
    ...(isPinned ? { pinned: true } : {}),
    createdAt: now,
    decision: admission.decision,
    version: states.length - 1,
    state: pathOf(id, states),
    approval: null,
    inputs: [],
    ...(request.inputs === undefined ? {} : { offered: offeredInputs(request.inputs) }),
    timeline: states.map((state) => timelineEntry(state, now)),
  };
}

/** Hooks may have replaced the arguments; they cannot change the value itself. */
function jsonOf(args: unknown, { argsText }: CallRequest): string {
  return argsText !== undefined && argsText.of === args ? argsText.json : JSON.stringify(args);
}

function approvalOf(digest: Digest, call: Call): Approval | null {
  const { state } = call;
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

/** The hash of a supplied result, as for any other result: a change of the stored result is detected. */
function resultHash(digest: Digest, { state }: Call, entry: TimelineEntry): string | undefined {
  if (entry.state !== 'COMPLETED' || state.name !== 'COMPLETED') return undefined;
  return digest.sha256(state.resultJson);
}
