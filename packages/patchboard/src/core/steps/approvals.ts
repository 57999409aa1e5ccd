import type { Approval, Call } from '../call/call.ts';
import { failed, type BadOutcome } from '../call/outcome.ts';
import { isOpen } from '../call/call.ts';
import { approvalDigest } from '../call/approval-digest.ts';
import { isAsApproved } from '../call/as-approved.ts';
import { endState, expiry } from '../call/end-state.ts';
import { reason } from '@patchboard/wire';
import { explain, reasonsOf, type Explanation } from '../explanation.ts';
import { denied, failure, messageOf, problemOf, storeFailure, type Failure } from '../failures.ts';
import type { GrantService, GrantRequest } from '../access/grant-service.ts';
import type { Guard } from '../access/guard.ts';
import { jsonDiff } from '../json/json-diff.ts';
import { permissionDecidedRow } from '../ledger/ledger.ts';
import type { Lifecycle } from '../call/lifecycle.ts';
import {
  isIdempotent,
  isOurs,
  isPinnedElsewhere,
  type InProcessCaller,
  type LiveCall,
} from '../call/live-call.ts';
import type { Clock, Digest, Log, Store } from '../ports.ts';
import type { Principal } from '../access/principal.ts';
import type { Providers } from '../providers/providers.ts';
import type { Redactor } from '../call/redaction.ts';
import type { Tasks } from '../tasks.ts';
import type { RegisteredTool } from '../tools/registered-tool.ts';
import type { ToolIndex } from '../tools/tool-index.ts';

export interface OperatorDecision {
  readonly decision: 'allow' | 'deny';
  /** The digest that the operator was shown: see `approvalDigest`. */
  readonly digest: string;
  readonly note: string | null;
  /** Arguments to run in place of the submitted ones. */
  readonly edit?: { readonly args: unknown };
  /** Also creates a grant, so that matching calls need no approval. */
  readonly grant?: GrantRequest;
}

export interface ApprovalsParts {
  readonly store: Store;
  readonly lifecycle: Lifecycle;
  readonly toolIndex: ToolIndex;
  readonly clock: Clock;
  readonly digest: Digest;
  readonly guard: Guard;
  readonly grants: GrantService;
  readonly redactor: Redactor;
  readonly providers: Providers;
  readonly tasks: Tasks;
  readonly log: Log;
}

/** The pause before an approved call that could not be read is read again. */
const RETRY_MS = 500;

/** Applies operators' decisions to calls in APPROVAL_REQUIRED. */
export class Approvals {
  readonly #parts: ApprovalsParts;
  readonly #released: WeakSet<LiveCall> = new WeakSet();

  constructor(parts: ApprovalsParts) {
    this.#parts = parts;
  }

  /**
   * Returns null if this decision was committed. If another decision, the expiry or a cancel was first, returns a
   * conflict with the call's state.
   */
  async decide(live: LiveCall, principal: Principal, given: OperatorDecision): Promise<Failure | null> {
    const refused = refusal(live.call, principal, given) ?? (await this.#overtaken(live));
    if (refused !== null) return refused;
    if (given.decision === 'deny')
      return (await this.#deny(live, principal, given)) ? null : notWaiting(live.call);
    const edited = this.#edit(live.call, given.edit);
    if ('code' in edited) return edited;
    const forbidden = this.#parts.grants.check(given.grant) ?? (await this.#forbidden(edited, live.caller));
    if (forbidden !== null) return forbidden;
    if (!(await this.#allow(live, principal, given, edited))) return notWaiting(live.call);
    try {
      if (given.grant !== undefined) await this.#parts.grants.give(principal, live.call, given.grant);
    } finally {
      // The approval is committed, so the call is released even if the grant could not be stored.
      if (!isPinnedElsewhere(live)) await this.releaseApproved(live);
    }
    return null;
  }

  /**
   * Ends a call that expired, or whose stored record no longer matches its digest, before the operator's decision is
   * applied.
   */
  async #overtaken(live: LiveCall): Promise<Failure | null> {
    const { lifecycle, clock, digest } = this.#parts;
    const { call } = live;
    if (!isOpen(call)) return notWaiting(call);
    if (call.state.deadlineAt <= clock.now()) {
      // The timer is late, or the machine was suspended: the expiry time that was shown counts.
      await lifecycle.end(live, expiry(call, 'not_started', isIdempotent(live)));
      return notWaiting(live.call);
    }
    if (approvalDigest(digest, call) === call.approval?.digest) return null;
    await lifecycle.end(live, { kind: 'denied', failure: CHANGED });
    return failure('conflict', reason('approval_request_changed'));
  }

  /** Returns a failure if the policy denies the call now: the policy may have changed, or deny the edited arguments. */
  async #forbidden(call: Call, caller: InProcessCaller): Promise<Failure | null> {
    const { toolIndex, guard } = this.#parts;
    const tool = toolIndex.find(call.tenant, call.toolName);
    if (tool === undefined) return null;
    const why = await denial(guard, tool, call, caller);
    if (why === null) return null;
    return failure('permission_denied', denied(...reasonsOf(why)));
  }

  /** As `release`, once for each call of this node, whichever node has approved it. */
  async releaseApproved(live: LiveCall): Promise<void> {
    if (live.call.state.name === 'APPROVED' && !this.#released.has(live)) await this.release(live);
  }

  /**
   * Starts an approved call, for the first time or again, after comparing it with the stored record, the ledger and the tool
   * that is registered now. If they cannot be read, it is tried again in the background.
   */
  async release(live: LiveCall): Promise<void> {
    const { lifecycle, tasks, log } = this.#parts;
    const { version } = live.call;
    this.#released.add(live);
    try {
      await this.#compareAndStart(live);
    } catch (error) {
      if (storeFailure(error) === null) throw error;
      log.error('store.write_failed', { tool_call_id: live.call.id, error: messageOf(error) });
      lifecycle.wheel.after(RETRY_MS, () => {
        if (isOurs(live) && live.call.version === version) tasks.start('release', () => this.release(live));
      });
    }
  }

  async #compareAndStart(live: LiveCall): Promise<void> {
    const { store, toolIndex, digest, lifecycle, providers } = this.#parts;
    const stored = await store.findCall(live.call.id);
    if (stored === undefined) return;
    const tool = toolIndex.find(stored.tenant, stored.toolName);
    const approved = live.call.approval?.digest;
    const isSame =
      approvalDigest(digest, stored) === approved &&
      approvalDigest(digest, live.call) === approved &&
      (await this.#isInLedger(live.call));
    const refused = !isSame
      ? CHANGED
      : tool !== undefined && !isAsApproved(stored, () => tool)
        ? failure('approval_denied', reason('approval_tool_changed'), NOT_STARTED)
        : await this.#forbidden(live.call, live.caller);
    if (!isOpen(live.call)) return;
    live.tool = tool ?? live.tool;
    if (refused === null) providers.ofCall(live.call).start(live);
    else await lifecycle.end(live, refusedEnd(live.call, refused));
  }

  /** A writer with access to the database file can change the record and its digest, but not the ledger unnoticed. */
  async #isInLedger({ id, approval }: Call): Promise<boolean> {
    const filter = { callId: id, kinds: ['permission_decided'] };
    const rows = await this.#parts.store.readLedger(filter, 0, 1, { withCalls: false });
    return rows.some(({ row }) => {
      const { decision, digest } = JSON.parse(row.body) as Record<string, unknown>;
      return decision === 'allow' && digest === approval?.digest;
    });
  }

  /** Resolves to the digest that the call would have with other arguments, or to the reason why they are not allowed. */
  async preview({ call, caller }: LiveCall, args: unknown): Promise<string | Failure> {
    if (!isWaiting(call)) return notWaiting(call);
    const edited = this.#edit(call, { args });
    if ('code' in edited) return edited;
    return (await this.#forbidden(edited, caller)) ?? approvalDigest(this.#parts.digest, edited);
  }

  /** Returns the call with the operator's arguments, if there are any and they are valid against the schema. */
  #edit(call: Call, edit: OperatorDecision['edit']): Call | Failure {
    if (edit === undefined) return call;
    const tool = this.#parts.toolIndex.find(call.tenant, call.toolName);
    // Without the tool's schema the new arguments cannot be validated.
    if (tool === undefined) return failure('tool_not_found', reason('tool_unknown', { tool: call.toolName }));
    const issues = tool.validateInput(edit.args);
    if (issues === null) return { ...call, argsJson: JSON.stringify(edit.args) };
    const [first] = issues;
    const problem = first === undefined ? [] : problemOf(first);
    return failure('input_invalid', reason('input_issue', { path: first?.path ?? '', problem }), { issues });
  }

  async #allow(
    live: LiveCall,
    principal: Principal,
    given: OperatorDecision,
    edited: Call,
  ): Promise<boolean> {
    if (!isWaiting(live.call)) return false;
    const { lifecycle, clock, providers, digest } = this.#parts;
    const { argsJson } = edited;
    const isEdited = argsJson !== live.call.argsJson;
    const approval: Approval = {
      ...decided(live.call, principal, given, clock.now()),
      digest: approvalDigest(digest, edited),
      originalArgsJson: isEdited ? live.call.argsJson : null,
    };
    const waitMs = providers.ofCall(live.call).waitMs(live.call);
    const state = { name: 'APPROVED', deadlineAt: clock.now() + waitMs } as const;
    const keepsHolder = isPinnedElsewhere(live);
    return await lifecycle.advance(live, [state], { approval, argsJson, rows: this.#row, keepsHolder });
  }

  async #deny(live: LiveCall, principal: Principal, given: OperatorDecision): Promise<boolean> {
    if (!isWaiting(live.call)) return false;
    const approval = decided(live.call, principal, given, this.#parts.clock.now());
    const extra = given.note === null ? {} : { note: given.note };
    const denied = failure('approval_denied', reason('approval_denied_by_user'), extra);
    const end = endState({ kind: 'denied', failure: denied }, null);
    return await this.#parts.lifecycle.advance(live, [end], { approval, rows: this.#row });
  }

  readonly #row = (call: Call) => {
    const { redactor, clock, digest } = this.#parts;
    const original = call.approval?.originalArgsJson ?? null;
    if (original === null) return [permissionDecidedRow(call, null, clock.now())];
    const changes = jsonDiff(redactor.value(JSON.parse(original)), redactor.value(JSON.parse(call.argsJson)));
    const argsHash = digest.sha256(call.argsJson);
    return [permissionDecidedRow(call, { changes, argsHash }, clock.now())];
  };
}

const NOT_STARTED = { outcome: 'not_started' } as const;

const CHANGED: Failure = failure('approval_denied', reason('approval_request_changed'), NOT_STARTED);

/** The end of an approved call that must not run, or not again. */
function refusedEnd({ state }: Call, refused: Failure): BadOutcome {
  return state.name === 'APPROVED'
    ? { kind: 'denied', failure: { ...refused, ...NOT_STARTED } }
    : failed({ ...refused, outcome: 'unknown' });
}

/** Returns why the policy denies the call; null if it does not. A guard that throws denies. */
async function denial(
  guard: Guard,
  tool: RegisteredTool,
  call: Call,
  caller: InProcessCaller,
): Promise<Explanation | null> {
  const { tenant, agentId } = call;
  const principal: Principal = {
    kind: 'agent',
    id: agentId,
    tenant,
    agentId,
    clientId: null,
    scopes: new Set(),
    credential: null,
  };
  try {
    const args = JSON.parse(call.argsJson) as unknown;
    const permissions = caller.permissions ?? [];
    const decision = await guard.admit({ principal, tool, args, permissions });
    return decision.effect === 'deny' ? decision : null;
  } catch (error) {
    return explain(reason('decision_failed', { error: messageOf(error) }));
  }
}

function refusal(call: Call, principal: Principal, given: OperatorDecision): Failure | null {
  if (!isWaiting(call) || call.approval === null) return notWaiting(call);
  // Callers without type checks may pass any value, and an unknown decision must not count as an approval.
  if (!['allow', 'deny'].includes(given.decision))
    return failure('body_invalid', reason('approval_word_unknown', { word: String(given.decision) }));
  if (principal.agentId === call.agentId) {
    return failure('permission_denied', denied(reason('approval_of_own_call')));
  }
  if (given.digest === call.approval.digest) return null;
  return failure('conflict', reason('approval_digest_differs'));
}

/** False after another decision, the expiry or a cancel. */
function isWaiting(call: Call): boolean {
  return call.state.name === 'APPROVAL_REQUIRED';
}

function decided(call: Call, principal: Principal, given: OperatorDecision, at: number): Approval {
  if (call.approval === null) throw new Error(`call ${call.id} has no approval request`);
  const { decision, note } = given;
  return { ...call.approval, decision, decidedBy: principal.id, decidedAt: at, note };
}

export function notWaiting(call: Call): Failure {
  return failure('conflict', reason('call_not_waiting', { id: call.id, state: call.state.name }));
}
