import { attemptsOf, type Call } from './call.ts';
import { failure } from '../failures.ts';
import type { Lifecycle } from './lifecycle.ts';
import type { LiveCall } from './live-call.ts';
import type { BadOutcome } from './outcome.ts';
import type { Clock, Store } from '../ports.ts';
import type { Registry } from '../tools/registry.ts';

export interface RecoveryParts {
  readonly store: Store;
  readonly lifecycle: Lifecycle;
  readonly registry: Registry;
  readonly clock: Clock;
  readonly dispatch: (live: LiveCall) => void;
  /** A device ran it: it may come back with the result. */
  readonly awaitDevice: (live: LiveCall) => void;
  readonly releaseApproved: (live: LiveCall) => Promise<void>;
}

export interface RecoveryReport {
  readonly resumed: number;
  readonly sealed: number;
}

/**
 * After a restart: whatever certainly did not start goes on, client calls keep waiting for their client,
 * and what this server was executing is sealed, because it may have had its effect.
 */
export async function recover(parts: RecoveryParts): Promise<RecoveryReport> {
  let resumed = 0;
  let sealed = 0;
  /** Nobody works on these any more, nor for them. */
  const over = new Set<string>();
  for await (const call of parts.store.openCalls()) {
    const live = parts.lifecycle.adopt(call);
    const seal = sealOf(parts.registry, call) ?? orphaned(call, over);
    if (seal !== null) {
      over.add(call.id);
      await parts.lifecycle.end(live, seal);
      sealed += 1;
      continue;
    }
    resumed += 1;
    // It may have been pushed before the crash: from now on nobody can say that it did not start.
    if (call.clientId !== null && call.state.name !== 'APPROVAL_REQUIRED') live.pushed = true;
    if (isOverdue(call, parts.clock.now())) continue; // the deadline that `adopt` armed ends it at once
    if (call.state.name === 'EXECUTING' && call.state.device !== undefined) parts.awaitDevice(live);
    if (call.state.name === 'APPROVED') await parts.releaseApproved(live);
    else if (call.state.name !== 'APPROVAL_REQUIRED') parts.dispatch(live);
  }
  return { resumed, sealed };
}

/** Only what this server was executing, and only if it may not be executed again. */
function sealOf(registry: Registry, call: Call): BadOutcome | null {
  if (call.state.name !== 'EXECUTING' || call.clientId !== null) return null;
  const tool = registry.find(call.tenant, call.toolName);
  if (tool?.annotations.idempotent === true && attemptsOf(call) < MAX_ATTEMPTS_OVER_RESTARTS) return null;
  const message = 'the server stopped while the tool was running; it may have had its effect';
  return { kind: 'sealed', failure: failure('interrupted', message, { outcome: 'unknown' }) };
}

/** A call of a sub-agent whose task is over: it came later than the call that was the task. */
function orphaned({ parentCallId, state }: Call, over: ReadonlySet<string>): BadOutcome | null {
  if (parentCallId === null || !over.has(parentCallId)) return null;
  const outcome = state.name === 'EXECUTING' ? 'unknown' : 'not_started';
  const message = 'the server stopped, and with it the task that this call was part of';
  return { kind: 'cancelled', failure: failure('cancelled', message, { outcome }) };
}

/** A call that takes the server down each time must not do so for ever. */
const MAX_ATTEMPTS_OVER_RESTARTS = 5;

function isOverdue(call: Call, now: number): boolean {
  return 'deadlineAt' in call.state && call.state.deadlineAt <= now;
}
