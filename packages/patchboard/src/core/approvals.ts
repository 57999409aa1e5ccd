import type { Approval, Call } from './call.ts';
import { isOpen } from './call.ts';
import { canonicalJson } from './canonical-json.ts';
import { endState } from './endings.ts';
import { failure, type Failure } from './failures.ts';
import type { GrantOffice, GrantRequest } from './grant-office.ts';
import { jsonDiff } from './json-diff.ts';
import { permissionDecidedRow } from './ledger.ts';
import type { Lifecycle } from './lifecycle.ts';
import type { LiveCall } from './live-call.ts';
import type { Limits } from './limits.ts';
import type { Clock, Digest, Store } from './ports.ts';
import type { Principal } from './principal.ts';
import type { Redactor } from './redaction.ts';
import type { Registry } from './registry.ts';

/** Covers everything an operator is shown: what runs must hash to the same. */
export function approvalDigest(digest: Digest, call: Call): string {
  const { tenant, toolName, toolVersion, argsJson, runId, agentId, decision } = call;
  const { policyVersion } = decision;
  return digest.sha256(
    canonicalJson({ tenant, toolName, toolVersion, argsJson, runId, agentId, policyVersion }),
  );
}

export interface OperatorDecision {
  readonly decision: 'allow' | 'deny';
  /** Of what the operator was shown. */
  readonly digest: string;
  readonly note: string | null;
  /** Run this instead. */
  readonly edit?: { readonly args: unknown };
  /** "Don't ask again." */
  readonly grant?: GrantRequest;
}

export interface ApprovalsParts {
  readonly store: Store;
  readonly lifecycle: Lifecycle;
  readonly registry: Registry;
  readonly clock: Clock;
  readonly digest: Digest;
  readonly limits: Limits;
  readonly grants: GrantOffice;
  readonly redactor: Redactor;
  readonly dispatch: (live: LiveCall) => void;
}

/** Brings an operator's word to the calls that wait for one. */
export class Approvals {
  readonly #parts: ApprovalsParts;

  constructor(parts: ApprovalsParts) {
    this.#parts = parts;
  }

  /** Decides once. Racing decisions, expiry and cancel: one wins, the others are told what stands. */
  async decide(live: LiveCall, principal: Principal, given: OperatorDecision): Promise<Failure | null> {
    const refused = refusal(live.call, principal, given);
    if (refused !== null) return refused;
    if (given.decision === 'deny')
      return (await this.#deny(live, principal, given)) ? null : notWaiting(live.call);
    const edited = this.#edit(live.call, given);
    if ('code' in edited) return edited;
    if (!(await this.#allow(live, principal, given, edited))) return notWaiting(live.call);
    if (given.grant !== undefined) await this.#parts.grants.give(principal, live.call, given.grant);
    await this.release(live);
    return null;
  }

  /** What was approved is compared with what is stored and with the tool as it is now, just before it runs. */
  async release(live: LiveCall): Promise<void> {
    const { store, registry, digest, lifecycle, dispatch } = this.#parts;
    const stored = await store.findCall(live.call.id);
    if (!isOpen(live.call) || stored === undefined) return;
    const tool = registry.find(stored.tenant, stored.toolName);
    const isSame = approvalDigest(digest, stored) === live.call.approval?.digest;
    if (isSame && (tool === undefined || tool.version === stored.toolVersion)) {
      dispatch(live);
      return;
    }
    const message = isSame
      ? 'the tool changed after it was approved; ask again'
      : 'the stored request is not the one that was approved';
    const changed = failure('approval_denied', message, { outcome: 'not_started' });
    await lifecycle.end(live, { kind: 'denied', failure: changed });
  }

  /** The call with the operator's arguments, if there are any and they fit the schema. */
  #edit(call: Call, { edit }: OperatorDecision): Call | Failure {
    if (edit === undefined) return call;
    const issues = this.#parts.registry.find(call.tenant, call.toolName)?.validateInput(edit.args) ?? null;
    if (issues === null) return { ...call, argsJson: JSON.stringify(edit.args) };
    const [first] = issues;
    return failure('input_invalid', `args${first?.path ?? ''} ${first?.message ?? 'do not fit'}`, { issues });
  }

  async #allow(
    live: LiveCall,
    principal: Principal,
    given: OperatorDecision,
    edited: Call,
  ): Promise<boolean> {
    const { lifecycle, clock, limits, digest } = this.#parts;
    const { argsJson } = edited;
    const isEdited = argsJson !== live.call.argsJson;
    const approval: Approval = {
      ...decided(live.call, principal, given, clock.now()),
      digest: approvalDigest(digest, edited),
      originalArgsJson: isEdited ? live.call.argsJson : null,
    };
    const wait = live.call.source === 'client' ? live.call.timeoutMs : limits.queueWaitMs;
    const state = { name: 'APPROVED', deadlineAt: clock.now() + wait } as const;
    return await lifecycle.advance(live, [state], { approval, argsJson, rows: this.#row });
  }

  async #deny(live: LiveCall, principal: Principal, given: OperatorDecision): Promise<boolean> {
    const approval = decided(live.call, principal, given, this.#parts.clock.now());
    const extra = given.note === null ? {} : { note: given.note };
    const denied = failure('approval_denied', 'Permission denied by user', extra);
    const end = endState({ kind: 'denied', failure: denied }, null);
    return await this.#parts.lifecycle.advance(live, [end], { approval, rows: this.#row });
  }

  readonly #row = (call: Call) => {
    const { redactor, clock } = this.#parts;
    const original = call.approval?.originalArgsJson ?? null;
    const edits =
      original === null
        ? []
        : jsonDiff(redactor.value(JSON.parse(original)), redactor.value(JSON.parse(call.argsJson)));
    return [permissionDecidedRow(call, edits, clock.now())];
  };
}

function refusal(call: Call, principal: Principal, given: OperatorDecision): Failure | null {
  if (call.state.name !== 'APPROVAL_REQUIRED' || call.approval === null) return notWaiting(call);
  if (principal.agentId === call.agentId) {
    return failure('permission_denied', 'permission denied: nobody decides on their own call');
  }
  if (given.digest === call.approval.digest) return null;
  return failure('conflict', 'the digest is not that of the request that waits; look at it again');
}

function decided(call: Call, principal: Principal, given: OperatorDecision, at: number): Approval {
  if (call.approval === null) throw new Error(`call ${call.id} was never asked about`);
  const { decision, note } = given;
  return { ...call.approval, decision, decidedBy: principal.id, decidedAt: at, note };
}

function notWaiting(call: Call): Failure {
  return failure('conflict', `call ${call.id} does not wait for a decision: it is ${call.state.name}`);
}
