import { reason } from '@patchboard/wire';
import { BoundedTasks } from '../bounded-tasks.ts';
import { isComparedAgain } from './as-approved.ts';
import { isOverdue, type Call } from './call.ts';
import { endFailure, failure, messageOf } from '../failures.ts';
import type { Lifecycle } from './lifecycle.ts';
import { REMOTE_CALLER, type LiveCall } from './live-call.ts';
import type { BadOutcome } from './outcome.ts';
import { waitsForInput } from './input.ts';
import { endState } from './end-state.ts';
import type { Peers } from '../peers.ts';
import type { Clock, Log } from '../ports.ts';
import type { Tasks } from '../tasks.ts';
import type { RegisteredTool } from '../tools/registered-tool.ts';
import type { ToolIndex } from '../tools/tool-index.ts';

export interface RecoveryParts {
  readonly lifecycle: Lifecycle;
  readonly toolIndex: ToolIndex;
  readonly peers: Peers;
  readonly clock: Clock;
  readonly log: Log;
  readonly tasks: Tasks;
  /** Takes over a call, and returns whether it may continue: see `Provider.recover`. */
  readonly recovered: (live: LiveCall, tool: RegisteredTool | undefined) => boolean;
  readonly start: (live: LiveCall) => void;
  readonly releaseApproved: (live: LiveCall) => Promise<void>;
}

export interface RecoveryReport {
  readonly resumed: number;
  readonly sealed: number;
}

/** Ends that are recorded at the same time: the store commits them together. */
const AT_ONCE = 1000;

/**
 * Takes over the open calls of a process that is gone, of this node or another one: resumes calls that certainly did not
 * start and calls that wait for a client, and seals calls that the former process was executing, because they may have had
 * an effect.
 */
export async function recover(parts: RecoveryParts, calls: AsyncIterable<Call>): Promise<RecoveryReport> {
  let resumed = 0;
  let sealed = 0;
  const sealedIds = new Set<string>();
  const writes = new BoundedTasks(AT_ONCE);
  for await (const call of calls) {
    await parts.lifecycle.forgetOlder(call);
    // A move of this node has made it its own already.
    if (parts.lifecycle.find(call.id) !== undefined) continue;
    const tool = parts.toolIndex.find(call.tenant, call.toolName);
    const live = parts.lifecycle.adopt(
      call,
      REMOTE_CALLER,
      tool?.version === call.toolVersion ? tool : undefined,
      'adopted',
    );
    const mayContinue = parts.recovered(live, tool);
    // The node that holds it may run and only be late: the call ends by its deadline, as it would have there.
    const isLate = !parts.peers.isSingle && isOverdue(call, parts.clock.now());
    const seal = mayContinue || isLate ? orphaned(parts.lifecycle, live, sealedIds) : interrupted(tool);
    if (seal !== null) {
      sealedIds.add(call.id);
      await writes.start(() => end(parts, live, seal));
      sealed += 1;
      continue;
    }
    resumed += 1;
    if (isOverdue(call, parts.clock.now())) continue; // the deadline that `adopt` armed ends it at once
    if (waitsForPerson(call)) continue;
    if (call.state.name === 'APPROVED' || isComparedAgain(call))
      await writes.start(() => release(parts, live));
    else parts.start(live);
  }
  await writes.idle();
  return { resumed, sealed };
}

/** A failed write does not prevent the start: it is retried in the background. */
async function end(
  { lifecycle, tasks, log }: RecoveryParts,
  live: LiveCall,
  seal: BadOutcome,
): Promise<void> {
  try {
    // A response to its input request may be recorded meanwhile.
    await lifecycle.endOpen(live, () => seal);
  } catch (error) {
    log.error('store.write_failed', { tool_call_id: live.call.id, error: messageOf(error) });
    tasks.start('recover', () => lifecycle.endWithRetry(live, endState(seal, null)));
  }
}

/** If this fails, the call ends at its deadline. */
async function release({ releaseApproved, log }: RecoveryParts, live: LiveCall): Promise<void> {
  try {
    await releaseApproved(live);
  } catch (error) {
    log.error('store.write_failed', { tool_call_id: live.call.id, error: messageOf(error) });
  }
}

/** The outcome of a call that was executing in the former process and must not be repeated. */
function interrupted(tool: RegisteredTool | undefined): BadOutcome {
  const idempotent = tool?.annotations.idempotent === true;
  const why = reason('server_stopped_effect');
  return { kind: 'sealed', failure: endFailure('interrupted', why, 'unknown', idempotent) };
}

/**
 * Cancels a sub-agent's call whose parent call was sealed; null otherwise. Open calls come oldest first, so the parent
 * came before.
 */
function orphaned(lifecycle: Lifecycle, live: LiveCall, sealedIds: ReadonlySet<string>): BadOutcome | null {
  const { parentCallId } = live.call;
  if (parentCallId === null || !sealedIds.has(parentCallId)) return null;
  const outcome = lifecycle.outcomeKnowledge(live);
  const why = reason('server_stopped_task');
  return { kind: 'cancelled', failure: failure('cancelled', why, { outcome }) };
}

/** Whether the call waits for an operator's decision, or for input with no attempt that holds a slot meanwhile. */
function waitsForPerson(call: Call): boolean {
  const { state } = call;
  return state.name === 'APPROVAL_REQUIRED' || (waitsForInput(call) && !('held' in state && state.held));
}
