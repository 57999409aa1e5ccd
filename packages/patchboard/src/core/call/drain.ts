import { reason } from '@patchboard/wire';
import { endFailure, messageOf } from '../failures.ts';
import type { Clock, Log } from '../ports.ts';
import { withTimeLimit } from '../time-limit.ts';
import { runsInProcess } from './call.ts';
import type { Lifecycle } from './lifecycle.ts';
import { isIdempotent, type LiveCall } from './live-call.ts';
import type { BadOutcome } from './outcome.ts';

export interface DrainParts {
  readonly lifecycle: Lifecycle;
  readonly clock: Clock;
  /** How long to wait for running calls. */
  readonly drainMs: number;
  readonly log: Log;
  /** Whether the call is about to run in this process: its record is being written. */
  readonly isBeginning: (live: LiveCall) => boolean;
  /** Calls the listener when a call ends or waits for input. */
  readonly onIdle: (listener: () => void) => () => void;
}

/** Before the server stops: waits up to `drainMs` for the calls that run in this process, then seals those that still run. */
export async function drainCalls(parts: DrainParts): Promise<void> {
  const { lifecycle, clock, drainMs, isBeginning } = parts;
  const awaited = (): LiveCall[] =>
    lifecycle.all().filter((live) => isRunningInProcess(live) || isBeginning(live));
  await withTimeLimit(clock, drainMs, allEnded(parts, awaited), () => {});
  const running = lifecycle.all().filter(isRunningInProcess);
  await Promise.all(running.map((live) => seal(parts, live)));
}

async function allEnded({ onIdle }: DrainParts, awaited: () => LiveCall[]): Promise<void> {
  while (awaited().length > 0) {
    await new Promise<void>((resolve) => {
      const stop = onIdle(() => {
        stop();
        resolve();
      });
    });
  }
}

function interrupted(live: LiveCall): BadOutcome {
  const why = reason('server_stopped_running');
  return { kind: 'sealed', failure: endFailure('interrupted', why, 'unknown', isIdempotent(live)) };
}

/** If the write fails, the next start of the server seals the call. */
async function seal({ lifecycle, log }: DrainParts, live: LiveCall): Promise<void> {
  try {
    await lifecycle.endOpen(live, () => interrupted(live));
  } catch (error) {
    log.error('store.write_failed', { tool_call_id: live.call.id, error: messageOf(error) });
    live.stop.fire(interrupted(live));
  }
}

function isRunningInProcess({ call }: LiveCall): boolean {
  const { state } = call;
  return (
    runsInProcess(call) && (state.name === 'EXECUTING' || (state.name === 'INPUT_REQUIRED' && state.held))
  );
}
