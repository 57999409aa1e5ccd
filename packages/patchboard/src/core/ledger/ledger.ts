import { rfc3339 } from '@patchboard/wire';
import type { Approval, Call, TimelineEntry } from '../call/call.ts';
import { originFields, type CallOrigin } from '../call/call-origin.ts';
import { canonicalJson } from '../json/canonical-json.ts';
import type { JsonChange } from '../json/json-diff.ts';
import type { Digest } from '../ports.ts';

/** What happened, before the store gives it its place in the chain. */
export interface LedgerDraft {
  readonly at: number;
  readonly tenant: string;
  readonly kind: LedgerKind;
  readonly callId: string | null;
  readonly traceId: string | null;
  /** JSON text; only what changed. */
  readonly body: string;
}

export type LedgerKind =
  | 'call.state'
  | 'call.refused'
  | 'permission_required'
  | 'permission_decided'
  | 'run.created'
  | 'run.cancelled'
  | 'registry.changed'
  | 'device.changed'
  | 'key.created'
  | 'key.revoked'
  | 'grant.created'
  | 'grant.revoked'
  | 'policy.changed'
  | 'tenant.changed'
  | 'operator_token.refused'
  | 'local_mode.allowed'
  | 'store.loss_accepted';

export interface LedgerRow extends LedgerDraft {
  readonly seq: number;
  readonly hash: string;
}

/** What was wrong with a refused call, so much of it. */
const MESSAGE_CHARACTERS = 500;

/** What the first row's predecessor is said to be. */
export const GENESIS: string = '0'.repeat(64);

/** Each row's hash covers the row and its predecessor's hash: a change anywhere breaks every later link. */
export function chainHash(digest: Digest, previous: string, seq: number, draft: LedgerDraft): string {
  const { at, tenant, kind, callId, traceId, body } = draft;
  // JSON strings delimit themselves, so two different rows can never read as the same text.
  return digest.sha256(
    `${previous}\n${seq}\n${at}\n${json(tenant)}\n${kind}\n${json(callId)}\n${json(traceId)}\n${body}`,
  );
}

/** Of these characters a JSON string consists as they are, and almost every id does. */
const PLAIN = /^[\w.:-]*$/;

function json(text: string | null): string {
  return text !== null && PLAIN.test(text) ? `"${text}"` : JSON.stringify(text);
}

/** One row for one move of a call. The first one says what the call is; later ones only what changed. */
export function callRow(call: Call, entry: TimelineEntry, resultHash?: string): LedgerDraft {
  const { state, attempt, code, device } = entry;
  return {
    ...aboutCall(call, entry.at),
    kind: 'call.state',
    body: JSON.stringify({ state, attempt, code, device, result_sha256: resultHash }),
  };
}

export function firstCallRow(call: Call, entry: TimelineEntry, argsHash: string): LedgerDraft {
  const { toolName, toolVersion, runId, agentId, replayOf, parentCallId, sandbox, origin } = call;
  const { effect, rule, reason, reasons, policyVersion } = call.decision;
  const body = {
    state: entry.state,
    tool_name: toolName,
    tool_version: toolVersion,
    run_id: runId,
    agent_id: agentId,
    ...originFields(origin),
    args_sha256: argsHash,
    decision: { effect, rule, reason, reasons, policy_version: policyVersion },
    replay_of: replayOf ?? undefined,
    parent_call_id: parentCallId ?? undefined,
    sandbox: sandbox ?? undefined,
  };
  return { ...aboutCall(call, entry.at), kind: 'call.state', body: JSON.stringify(body) };
}

/** What an operator is asked. */
export function permissionRequiredRow(call: Call, approval: Approval, at: number): LedgerDraft {
  const { digest, reason, expiresAt } = approval;
  const body = { digest, reason, reasons: call.decision.reasons, expires_at: rfc3339(expiresAt) };
  return { ...aboutCall(call, at), kind: 'permission_required', body: JSON.stringify(body) };
}

export interface OperatorEdit {
  readonly changes: readonly JsonChange[];
  /** Of the arguments as they will run. */
  readonly argsHash: string;
}

/** What the operator said, and what was changed before it ran. */
export function permissionDecidedRow(call: Call, edit: OperatorEdit | null, at: number): LedgerDraft {
  const { approval } = call;
  const body = {
    digest: approval?.digest,
    decision: approval?.decision,
    decided_by: approval?.decidedBy,
    note: approval?.note ?? undefined,
    edits: edit === null || edit.changes.length === 0 ? undefined : edit.changes,
    args_sha256: edit?.argsHash,
  };
  return { ...aboutCall(call, at), kind: 'permission_decided', body: JSON.stringify(body) };
}

function aboutCall(call: Call, at: number): Pick<LedgerDraft, 'at' | 'tenant' | 'callId' | 'traceId'> {
  return { at, tenant: call.tenant, callId: call.id, traceId: call.traceId };
}

export interface RefusedCall {
  readonly tenant: string;
  readonly toolName: string;
  readonly agentId: string;
  readonly traceId: string | null;
  readonly origin: CallOrigin | null;
  readonly code: string;
  readonly message: string;
  /** Of the arguments as they came. */
  readonly argsHash: string;
  /** Refusals of the same caller before this one that have no row. */
  readonly unrecorded: number;
}

export function refusedRow(refused: RefusedCall, at: number): LedgerDraft {
  return {
    at,
    tenant: refused.tenant,
    kind: 'call.refused',
    callId: null,
    traceId: refused.traceId,
    body: JSON.stringify({
      tool_name: refused.toolName.slice(0, 128),
      agent_id: refused.agentId,
      ...originFields(refused.origin),
      args_sha256: refused.argsHash,
      code: refused.code,
      message: refused.message.slice(0, MESSAGE_CHARACTERS),
      ...(refused.unrecorded === 0 ? {} : { unrecorded: refused.unrecorded }),
    }),
  };
}

/** Rows about the registry and runs, which belong to no call. */
export function plainRow(kind: LedgerKind, tenant: string, at: number, body: unknown): LedgerDraft {
  return { at, tenant, kind, callId: null, traceId: null, body: canonicalJson(body) };
}
