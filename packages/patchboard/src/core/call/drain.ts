import { reason } from '@patchboard/wire';
import { endFailure, messageOf } from '../failures.ts';
import type { Limits } from '../limits.ts';
import type { Clock, Log } from '../ports.ts';
import { withTimeLimit } from '../time-limit.ts';
import { runsHere, type Call } from './call.ts';
import type { Lifecycle } from './lifecycle.ts';
import { isIdempotent, type LiveCall } from './live-call.ts';
import type { BadOutcome } from './outcome.ts';

export interface DrainParts {
  readonly lifecycle: Lifecycle;
  readonly clock: Clock;
  readonly limits: Limits;
  readonly log: Log;
  readonly onEnded: (listener: (call: Call) => void) => () => void;
}

/** Before the server stops: what runs here may finish for a while; what is still running then is sealed. */
export async function drainCalls(parts: DrainParts): Promise<void> {
  const { lifecycle, clock, limits } = parts;
  const running = (): LiveCall[] => lifecycle.all().filter(isRunningHere);
  await withTimeLimit(clock, limits.drainMs, allEnded(parts, running), () => {});
  await Promise.all(running().map((live) => seal(parts, live)));
}

async function allEnded({ onEnded }: DrainParts, running: () => LiveCall[]): Promise<void> {
  while (running().length > 0) {
    await new Promise<void>((resolve) => {
      const stop = onEnded(() => {
        stop();
        resolve();
      });
    });
  }
}

function stopped(live: LiveCall): BadOutcome {
  const why = reason('server_stopped_running');
  return { kind: 'sealed', failure: endFailure('interrupted', why, 'unknown', isIdempotent(live)) };
}

/** What cannot be written now is sealed by the next start. */
async function seal({ lifecycle, log }: DrainParts, live: LiveCall): Promise<void> {
  try {
    await lifecycle.endOpen(live, () => stopped(live));
  } catch (error) {
    log.error('store.write_failed', { tool_call_id: live.call.id, error: messageOf(error) });
    live.stop.fire(stopped(live));
  }
}

function isRunningHere({ call }: LiveCall): boolean {
  return runsHere(call) && call.state.name === 'EXECUTING';
}
