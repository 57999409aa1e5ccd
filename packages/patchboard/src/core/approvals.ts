import type { Approval, Call } from './call.ts';
import { isOpen } from './call.ts';
import { canonicalJson } from './canonical-json.ts';
import { endState } from './endings.ts';
import { failure, type Failure } from './failures.ts';
import { permissionRow } from './ledger.ts';
import type { Lifecycle } from './lifecycle.ts';
import type { LiveCall } from './live-call.ts';
import type { Limits } from './limits.ts';
import type { Clock, Digest, Store } from './ports.ts';
import type { Principal } from './principal.ts';
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
  readonly digest: string;
  readonly note: string | null;
}

export interface ApprovalParts {
  readonly store: Store;
  readonly lifecycle: Lifecycle;
  readonly registry: Registry;
  readonly clock: Clock;
  readonly digest: Digest;
  readonly limits: Limits;
  readonly dispatch: (live: LiveCall) => void;
}

/** Decides once. Racing decisions, expiry and cancel: one wins, the others are told what stands. */
export async function decideApproval(
  parts: ApprovalParts,
  live: LiveCall,
  principal: Principal,
  given: OperatorDecision,
): Promise<Failure | null> {
  const { approval } = live.call;
  if (live.call.state.name !== 'APPROVAL_REQUIRED' || approval === null) return notWaiting(live.call);
  if (principal.agentId === live.call.agentId && principal.kind !== 'operator') {
    return failure('permission_denied', 'permission denied: nobody decides on their own call');
  }
  if (given.digest !== approval.digest) {
    return failure('conflict', 'the digest is not that of the request that waits; look at it again');
  }
  const decided: Approval = {
    ...approval,
    decision: given.decision,
    decidedBy: principal.id,
    decidedAt: parts.clock.now(),
    note: given.note,
  };
  const won =
    given.decision === 'allow' ? await approve(parts, live, decided) : await deny(parts, live, decided);
  return won ? null : notWaiting(live.call);
}

async function approve(parts: ApprovalParts, live: LiveCall, approval: Approval): Promise<boolean> {
  const { lifecycle, clock, limits } = parts;
  const wait = live.call.source === 'client' ? live.call.timeoutMs : limits.queueWaitMs;
  const state = { name: 'APPROVED', deadlineAt: clock.now() + wait } as const;
  const rows = (call: Call) => [permissionRow('permission_decided', call, clock.now())];
  if (!(await lifecycle.advance(live, [state], { approval, rows }))) return false;
  await releaseApproved(parts, live);
  return true;
}

async function deny(parts: ApprovalParts, live: LiveCall, approval: Approval): Promise<boolean> {
  const extra = approval.note === null ? {} : { note: approval.note };
  const denied = failure('approval_denied', 'Permission denied by user', extra);
  const rows = (call: Call) => [permissionRow('permission_decided', call, parts.clock.now())];
  return await parts.lifecycle.advance(live, [endState({ kind: 'denied', failure: denied }, null)], {
    approval,
    rows,
  });
}

/** What was approved is compared with what is stored and with the tool as it is now, just before it runs. */
export async function releaseApproved(parts: ApprovalParts, live: LiveCall): Promise<void> {
  const { store, registry, digest, lifecycle, dispatch } = parts;
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

function notWaiting(call: Call): Failure {
  return failure('conflict', `call ${call.id} does not wait for a decision: it is ${call.state.name}`);
}
