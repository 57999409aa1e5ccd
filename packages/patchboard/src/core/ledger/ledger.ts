import { rfc3339 } from '@patchboard/wire';
import type { Approval, Call, TimelineEntry } from '../call/call.ts';
import { originFields, type CallOrigin } from '../call/call-origin.ts';
import type { InputRound } from '../call/input.ts';
import { canonicalJson } from '@patchboard/wire/json';
import type { JsonChange } from '../json/json-diff.ts';
import type { Digest } from '../ports.ts';

/** A ledger row before the store assigns its sequence and hash. A spread copy may lack `body`, which may be a getter. */
export interface LedgerDraft {
  readonly at: number;
  readonly tenant: string;
  readonly kind: LedgerKind;
  readonly callId: string | null;
  readonly traceId: string | null;
  /** JSON text of what changed. */
  readonly body: string;
}

export type LedgerKind =
  | 'call.state'
  | 'call.refused'
  | 'permission_required'
  | 'permission_decided'
  | 'input_required'
  | 'input_given'
  | 'run.created'
  | 'run.cancelled'
  | 'registry.changed'
  | 'device.changed'
  | 'upstream.changed'
  | 'key.created'
  | 'key.revoked'
  | 'grant.created'
  | 'grant.revoked'
  | 'policy.changed'
  | 'tenant.changed'
  | 'operator_token.refused'
  | 'local_mode.allowed'
  | 'store.loss_accepted'
  | 'store.copied';

export interface LedgerRow extends LedgerDraft {
  readonly seq: number;
  readonly hash: string;
  /** The writer of the row, and its number in the writer's chain. Absent: the ledger is one chain, and the number is `seq`. */
  readonly place?: { readonly writer: number; readonly no: number };
}

/** Maximum length of the message in a row about a refused call. */
const MESSAGE_CHARACTERS = 500;

/** The predecessor hash of the first row. */
export const GENESIS: string = '0'.repeat(64);

/**
 * The hash of a row covers the row and its predecessor's hash: a change breaks every later link. `no`: the number of the
 * row in its chain.
 */
export function chainHash(digest: Digest, previous: string, no: number, draft: LedgerDraft): string {
  const { at, tenant, kind, callId, traceId, body } = draft;
  // JSON strings are self-delimiting, so two different rows never produce the same text.
  return digest.sha256(
    `${previous}\n${no}\n${at}\n${json(tenant)}\n${kind}\n${json(callId)}\n${json(traceId)}\n${body}`,
  );
}

/** Characters that need no escaping in JSON. Almost every id consists of them. */
const PLAIN = /^[\w.:-]*$/;

function json(text: string | null): string {
  return text !== null && PLAIN.test(text) ? `"${text}"` : JSON.stringify(text);
}

/** The row of a state change. `firstCallRow` describes the call; later rows contain only what changed. */
export function callRow(call: Call, entry: TimelineEntry, resultHash?: string): LedgerDraft {
  return new StateRow(call, entry.at, () => {
    const { state, attempt, code, device } = entry;
    return JSON.stringify({ state, attempt, code, device, result_sha256: resultHash });
  });
}

export function firstCallRow(call: Call, { state, at }: TimelineEntry, argsHash: string): LedgerDraft {
  // The row must not hold the call: its arguments are redacted or removed before the row is.
  const { toolName, toolVersion, runId, agentId, decision, replayOf, parentCallId, sandbox, origin } = call;
  return new StateRow(call, at, () => {
    const { effect, rule, reason, reasons, policyVersion } = decision;
    return JSON.stringify({
      state,
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
    });
  });
}

/** Encodes its body when it is first read: the memory store keeps rows that nothing reads. */
class StateRow implements LedgerDraft {
  readonly at: number;
  readonly tenant: string;
  readonly kind = 'call.state';
  readonly callId: string;
  readonly traceId: string | null;
  #body: string | (() => string);

  constructor({ tenant, id, traceId }: Call, at: number, body: () => string) {
    this.at = at;
    this.tenant = tenant;
    this.callId = id;
    this.traceId = traceId;
    this.#body = body;
  }

  get body(): string {
    if (typeof this.#body !== 'string') this.#body = this.#body();
    return this.#body;
  }
}

/** The row of an approval request. */
export function permissionRequiredRow(call: Call, approval: Approval, at: number): LedgerDraft {
  const { digest, reason, expiresAt } = approval;
  const body = { digest, reason, reasons: call.decision.reasons, expires_at: rfc3339(expiresAt) };
  return { ...aboutCall(call, at), kind: 'permission_required', body: JSON.stringify(body) };
}

export interface OperatorEdit {
  readonly changes: readonly JsonChange[];
  /** Hash of the edited arguments. */
  readonly argsHash: string;
}

/** The row of an operator's decision, with the edits of the arguments. */
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

/** An input request of a running call, as a hash. */
export function inputRequiredRow(
  call: Call,
  { id, expiresAt }: InputRound,
  requestHash: string,
  at: number,
): LedgerDraft {
  const body = { input_request_id: id, request_sha256: requestHash, expires_at: rfc3339(expiresAt) };
  return { ...aboutCall(call, at), kind: 'input_required', body: JSON.stringify(body) };
}

/** The caller's response, as a hash. */
export function inputGivenRow(
  call: Call,
  { id, response }: InputRound,
  contentHash: string | undefined,
  at: number,
): LedgerDraft {
  const body = { input_request_id: id, action: response?.action, content_sha256: contentHash };
  return { ...aboutCall(call, at), kind: 'input_given', body: JSON.stringify(body) };
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
  /** Hash of the arguments as sent. */
  readonly argsHash: string;
  /** Number of earlier refusals of the same caller that have no row. */
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

/** A row that belongs to no call. */
export function plainRow(kind: LedgerKind, tenant: string, at: number, body: unknown): LedgerDraft {
  return { at, tenant, kind, callId: null, traceId: null, body: canonicalJson(body) };
}
