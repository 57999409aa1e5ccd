import { attemptsOf } from './call.ts';
import { contextOf, type CallContextParts } from './call-context.ts';
import type { Lifecycle } from './lifecycle.ts';
import type { Limits } from './limits.ts';
import type { LiveCall } from './live-call.ts';
import { failed, type Outcome } from './outcome.ts';
import type { Clock, Ids } from './ports.ts';
import type { ServerTool } from './server-tool.ts';
import { failureOfThrown } from './thrown.ts';

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
export async function runLocally(
  parts: LocalRunnerParts,
  tool: ServerTool,
  live: LiveCall,
): Promise<Outcome | null> {
  for (;;) {
    const attempt = attemptsOf(live.call);
    const outcome = await live.stop.race(runAttempt(parts, tool, live, attempt));
    if (live.stop.reason !== null) return null;
    const pauseMs = retryPause(parts, tool, live, outcome, attempt);
    if (outcome.kind !== 'failed' || pauseMs === null) return outcome;
    if (!(await pause(parts, live, pauseMs))) return null;
    const { state } = live.call;
    if (state.name !== 'EXECUTING') return null;
    const next = { ...state, attempt: attempt + 1, cause: outcome.failure.code };
    if (!(await parts.lifecycle.advanceSurely(live, [next]))) return null;
  }
}

async function runAttempt(
  parts: LocalRunnerParts,
  tool: ServerTool,
  live: LiveCall,
  attempt: number,
): Promise<Outcome> {
  try {
    const args = JSON.parse(live.call.argsJson) as unknown;
    return { kind: 'ok', value: await tool.execute(args, contextOf(parts, live, attempt, tool)) };
  } catch (error) {
    return failed(failureOfThrown(error));
  }
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
