import type { Clock } from '../../core/ports.ts';
import type { ToolContext } from '../../core/tools/server-tool.ts';
import { pause } from '../shared/pause.ts';
import { requestFailure, type FailureParts } from './call-failures.ts';
import {
  isUnknownSession,
  NotStarted,
  type McpConnection,
  type McpRequest,
  type McpResponse,
} from './mcp-connection.ts';

export interface SendParts extends FailureParts {
  readonly connection: Pick<McpConnection, 'request'>;
  readonly clock: Pick<Clock, 'now' | 'elapsed' | 'after'>;
}

type Timing = Pick<ToolContext, 'deadlineAt' | 'signal'>;

/** A request that was not sent by then is not sent. */
const DEADLINE_MARGIN_MS = 50;
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 5000;
/** An upstream that cannot be reached for so long is offline. One that responds, such as with 429, is tried until the deadline. */
const OFFLINE_AFTER_MS = 5000;
/** A server that refuses the request in each new session refuses the request: 400 also means that, and each ends a session. */
const NEW_SESSIONS = 2;

/**
 * Sends a request, and again after a failure that certainly came before its start. Throws `ToolFailure`, or the reason of the
 * signal. A request that is not sent ends before its deadline, after which the engine reports an unknown outcome.
 */
export async function sendRequest(
  parts: SendParts,
  request: McpRequest,
  timing: Timing,
): Promise<McpResponse> {
  const startedAt = parts.clock.elapsed();
  let sessions = 0;
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await sentInTime(parts, request, timing);
    } catch (error) {
      timing.signal.throwIfAborted();
      if (error instanceof NotStarted && isUnknownSession(error.status)) sessions += 1;
      const pauseMs = retryPause(parts, error, timing, attempt, startedAt);
      if (pauseMs === null || sessions > NEW_SESSIONS) throw requestFailure(parts, error);
      await pause(parts.clock, pauseMs, timing.signal);
    }
  }
}

/** Rejects with `NotStarted` if the request still waits for a connection shortly before the deadline. */
async function sentInTime(
  { connection, clock }: SendParts,
  request: McpRequest,
  { deadlineAt }: Timing,
): Promise<McpResponse> {
  const unsent = new AbortController();
  const disarm = clock.after(Math.max(0, deadlineAt - clock.now() - DEADLINE_MARGIN_MS), () =>
    unsent.abort(new NotStarted('no connection was free before the deadline', { mayRetry: false })),
  );
  try {
    const signal = AbortSignal.any([request.signal, unsent.signal]);
    return await connection.request({ ...request, signal, onSend: disarm });
  } finally {
    disarm();
  }
}

/** Null: the request is not sent again. */
function retryPause(
  { clock }: SendParts,
  error: unknown,
  { deadlineAt }: Timing,
  attempt: number,
  startedAt: number,
): number | null {
  if (!(error instanceof NotStarted) || !error.mayRetry) return null;
  const pauseMs = error.retryAfterMs ?? Math.min(FIRST_PAUSE_MS * 2 ** attempt, LONGEST_PAUSE_MS);
  if (clock.now() + pauseMs >= deadlineAt) return null;
  const isOffline = error.status === null && clock.elapsed() + pauseMs - startedAt > OFFLINE_AFTER_MS;
  return isOffline ? null : pauseMs;
}
