import type { FailureCode } from '@patchboard/wire';
import { attemptsOf } from '../call/call.ts';
import { contextOf, type CallContextParts } from './call-context.ts';
import type { Lifecycle } from '../call/lifecycle.ts';
import type { Limits } from '../limits.ts';
import type { LiveCall } from '../call/live-call.ts';
import { failed, type Outcome } from '../call/outcome.ts';
import type { Clock, Ids } from '../ports.ts';
import type { ServerTool } from '../tools/server-tool.ts';
import { andThen, type MaybePromise } from '../maybe-promise.ts';
import { failureOfThrown } from '../settlement/error-to-failure.ts';

export interface LocalRunnerParts extends CallContextParts {
  readonly lifecycle: Lifecycle;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly limits: Limits;
}

/**
 * Runs a call whose EXECUTING state is committed, and again if its tool is idempotent and the failure may pass.
 * Null: it was stopped from outside, and whoever did so has ended the call.
 */
export function runLocally(
  parts: LocalRunnerParts,
  tool: ServerTool,
  live: LiveCall,
): MaybePromise<Outcome | null> {
  // It may have been ended between the commit of EXECUTING and this line.
  if (live.stop.reason !== null) return null;
  const attempt = attemptsOf(live.call);
  return andThen(live.stop.race(runAttempt(parts, tool, live, attempt)), (outcome) => {
    if (live.stop.reason !== null) return null;
    const pauseMs = retryPause(parts, tool, live, outcome, attempt);
    if (outcome.kind !== 'failed' || pauseMs === null) return outcome;
    return runAgain(parts, tool, live, { attempt: attempt + 1, cause: outcome.failure.code, pauseMs });
  });
}

async function runAgain(
  parts: LocalRunnerParts,
  tool: ServerTool,
  live: LiveCall,
  { attempt, cause, pauseMs }: { attempt: number; cause: FailureCode; pauseMs: number },
): Promise<Outcome | null> {
  if (!(await pause(parts, live, pauseMs))) return null;
  const { state } = live.call;
  if (state.name !== 'EXECUTING') return null;
  if (!(await parts.lifecycle.advanceSurely(live, [{ ...state, attempt, cause }]))) return null;
  return await runLocally(parts, tool, live);
}

function runAttempt(
  parts: LocalRunnerParts,
  tool: ServerTool,
  live: LiveCall,
  attempt: number,
): MaybePromise<Outcome> {
  try {
    const args = JSON.parse(live.call.argsJson) as unknown;
    const given = tool.execute(args, contextOf(parts, live, attempt, tool));
    return isThenable(given)
      ? Promise.resolve(given).then(done, (error: unknown) => thrown(error, tool))
      : done(given);
  } catch (error) {
    return thrown(error, tool);
  }
}

function done(value: unknown): Outcome {
  return { kind: 'ok', value };
}

function thrown(error: unknown, { annotations }: ServerTool): Outcome {
  return failed(failureOfThrown(error, annotations.idempotent === true));
}

/** As `await` sees it: other promises than the language's own count too. */
function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}

/** Null when there is no other try: only idempotent tools, only failures that may pass, only within the deadline. */
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
  // Full jitter over the upper half, so that callers who failed together do not come back together.
  const pauseMs = limits.retryBaseMs * 2 ** (attempt - 1) * (0.5 + ids.random() / 2);
  return clock.now() + pauseMs < state.deadlineAt ? pauseMs : null;
}

/** False: the call was stopped meanwhile. */
async function pause({ clock }: LocalRunnerParts, live: LiveCall, ms: number): Promise<boolean> {
  let callOff = (): void => {};
  const rest = new Promise<Outcome>((resolve) => {
    callOff = clock.after(ms, () => resolve({ kind: 'ok', value: null }));
  });
  await live.stop.race(rest);
  callOff();
  return live.stop.reason === null;
}
