import type { FailureCode } from '@patchboard/wire';
import { attemptsOf, isOverdue } from '../call/call.ts';
import { contextOf, type CallContextParts } from './call-context.ts';
import { InputRequired } from '../call/input.ts';
import type { Lifecycle } from '../call/lifecycle.ts';
import type { Failure } from '../failures.ts';
import type { Limits } from '../limits.ts';
import type { LiveCall } from '../call/live-call.ts';
import { failed, type Outcome } from '../call/outcome.ts';
import type { Peers } from '../peers.ts';
import type { Clock, Ids } from '../ports.ts';
import type { ServerTool } from '../tools/server-tool.ts';
import { andThen, type MaybePromise } from '../maybe-promise.ts';
import { failureOfThrown } from '../settlement/error-to-failure.ts';

export interface LocalRunnerParts extends CallContextParts {
  readonly peers: Peers;
  readonly lifecycle: Lifecycle;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly limits: Limits;
}

/** How often work that waits for the lease of this node looks for it. */
export const LEASE_RETRY_MS = 100;

/**
 * Runs a call whose EXECUTING state is committed, and retries it if its tool is idempotent and the failure is transient.
 * Returns null if the call was stopped: the code that stopped it has ended it. `hasBegun`: an earlier attempt may have had
 * an effect; what became of an attempt before a restart is not known.
 */
export function runLocally(
  parts: LocalRunnerParts,
  tool: ServerTool,
  live: LiveCall,
  hasBegun: boolean = attemptsOf(live.call) > 1,
): MaybePromise<Outcome | InputRequired | null> {
  // The call may have ended between the commit of EXECUTING and this line.
  if (live.stop.reason !== null) return null;
  // The commit took so long that the time of the tool is over: the deadline, which is armed, ends the call.
  if (isOverdue(live.call, parts.clock.now())) return null;
  if (!parts.peers.hasLease()) return runWithLease(parts, tool, live, hasBegun);
  const attempt = attemptsOf(live.call);
  return andThen(live.stop.race(runAttempt(parts, tool, live, attempt)), (outcome) => {
    if (live.stop.reason !== null) return null;
    if (outcome instanceof InputRequired) return outcome;
    const pauseMs = retryPause(parts, tool, live, outcome, attempt);
    if (outcome.kind !== 'failed') return outcome;
    const { failure } = outcome;
    if (pauseMs === null) return hasBegun ? failed(ofWholeCall(failure)) : outcome;
    const next = { attempt: attempt + 1, cause: failure.code, pauseMs };
    return retry(parts, tool, live, { ...next, hasBegun: hasBegun || failure.outcome !== 'not_started' });
  });
}

/** An attempt that did not start says nothing about the attempts before it. */
function ofWholeCall(failure: Failure): Failure {
  return failure.outcome === 'not_started' ? { ...failure, outcome: 'unknown' } : failure;
}

/**
 * The process stood still after the commit: another node may have taken over its calls. The attempt begins when the lease
 * shows that none has; otherwise the process is fenced, which stops the call.
 */
async function runWithLease(
  parts: LocalRunnerParts,
  tool: ServerTool,
  live: LiveCall,
  hasBegun: boolean,
): Promise<Outcome | InputRequired | null> {
  while (!parts.peers.hasLease()) if (!(await pause(parts, live, LEASE_RETRY_MS))) return null;
  return await runLocally(parts, tool, live, hasBegun);
}

interface Retry {
  readonly attempt: number;
  readonly cause: FailureCode;
  readonly pauseMs: number;
  readonly hasBegun: boolean;
}

async function retry(
  parts: LocalRunnerParts,
  tool: ServerTool,
  live: LiveCall,
  { attempt, cause, pauseMs, hasBegun }: Retry,
): Promise<Outcome | InputRequired | null> {
  if (!(await pause(parts, live, pauseMs))) return null;
  const { state } = live.call;
  if (state.name !== 'EXECUTING') return null;
  if (!(await parts.lifecycle.advanceWithRetry(live, [{ ...state, attempt, cause }]))) return null;
  return await runLocally(parts, tool, live, hasBegun);
}

function runAttempt(
  parts: LocalRunnerParts,
  tool: ServerTool,
  live: LiveCall,
  attempt: number,
): MaybePromise<Outcome | InputRequired> {
  try {
    const args = JSON.parse(live.call.argsJson) as unknown;
    const returned = tool.execute(args, contextOf(parts, live, attempt, tool));
    return isThenable(returned)
      ? Promise.resolve(returned).then(done, (error: unknown) => thrown(error, tool))
      : done(returned);
  } catch (error) {
    return thrown(error, tool);
  }
}

function done(value: unknown): Outcome | InputRequired {
  if (value instanceof InputRequired) return value;
  return { kind: 'ok', value };
}

function thrown(error: unknown, { annotations }: ServerTool): Outcome {
  return failed(failureOfThrown(error, annotations.idempotent === true));
}

/** The same rule as `await`: any object with a `then` method counts. */
function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}

/**
 * Returns the back-off before the next attempt; null if there is none: only idempotent tools, transient failures,
 * within the deadline.
 */
function retryPause(
  { clock, ids, limits }: LocalRunnerParts,
  tool: ServerTool,
  live: LiveCall,
  outcome: Outcome,
  attempt: number,
): number | null {
  if (outcome.kind !== 'failed' || !outcome.failure.retryable) return null;
  if (tool.annotations.idempotent !== true || attempt >= limits.maxAttempts) return null;
  const { state } = live.call;
  if (state.name !== 'EXECUTING') return null;
  // Jitter over the upper half, so that calls that failed together do not retry together.
  const pauseMs = limits.retryBaseMs * 2 ** (attempt - 1) * (0.5 + ids.random() / 2);
  return clock.now() + pauseMs < state.deadlineAt ? pauseMs : null;
}

/** Returns false if the call was stopped meanwhile. */
async function pause({ clock }: LocalRunnerParts, live: LiveCall, ms: number): Promise<boolean> {
  let disarm = (): void => {};
  const elapsed = new Promise<Outcome>((resolve) => {
    disarm = clock.after(ms, () => resolve({ kind: 'ok', value: null }));
  });
  await live.stop.race(elapsed);
  disarm();
  return live.stop.reason === null;
}
