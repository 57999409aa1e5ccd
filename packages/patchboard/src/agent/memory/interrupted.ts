import { isOpen, type Call } from '../../core/call/call.ts';
import { failure } from '../../core/failures.ts';
import type { ToolUseBlock } from '../../protocols/messages.ts';
import type { BadOutcome } from '../../core/call/outcome.ts';
import { refusedToolResult } from '../../sdk/tool-result.ts';
import type { AgentParts } from '../assembly.ts';
import type { Answer } from '../loop/tool-requests.ts';

const NOT_STARTED: BadOutcome = {
  kind: 'sealed',
  failure: failure('interrupted', 'the agent stopped before the tool was started', {
    outcome: 'not_started',
  }),
};

/** With `mode: 'manual'`: nobody ran it, and the conversation went on. */
const PASSED_OVER: BadOutcome = {
  kind: 'cancelled',
  failure: failure('cancelled', 'nobody ran the tool, and the conversation went on', {
    outcome: 'not_started',
  }),
};

export interface TakenUp {
  readonly sealed: readonly { readonly callId: string; readonly outcome: 'unknown' | 'not_started' }[];
  readonly waiting: readonly string[];
  /** Every request has ended. */
  readonly isOver: boolean;
}

/**
 * After a crash the engine has sealed what was running. What it never heard of is sealed here; what waits, for a
 * decision or for its turn, gets the agent's hooks back and goes on. With `mode: 'manual'` what was not started waits on.
 */
export async function sealUnstarted(parts: AgentParts): Promise<TakenUp> {
  const calls: Call[] = [];
  let held = 0;
  for (const request of parts.transcript.openRequests) {
    const recorded = await standing(parts, request);
    if (recorded === undefined && parts.options.isManual) {
      held += 1;
      continue;
    }
    const call = recorded ?? (await parts.requests.recordEnded(request, NOT_STARTED));
    if (call === null) continue;
    parts.options.host.engine.serve(call.id, parts.caller);
    calls.push(call);
  }
  return {
    sealed: calls.flatMap(({ id: callId, state }) =>
      state.name === 'SEALED' ? [{ callId, outcome: state.error.outcome ?? 'unknown' }] : [],
    ),
    waiting: calls.filter(({ state }) => state.name === 'APPROVAL_REQUIRED').map(({ id }) => id),
    isOver: held === 0 && !calls.some(isOpen),
  };
}

/** An answer for every request of the last reply, from the calls that were recorded for them. */
export async function answerOpenRequests(parts: AgentParts, signal: AbortSignal): Promise<Answer[]> {
  const never = parts.options.isManual ? PASSED_OVER : NOT_STARTED;
  return await Promise.all(
    parts.transcript.openRequests.map(async (request) => {
      const call = (await standing(parts, request)) ?? (await parts.requests.recordEnded(request, never));
      if (call !== null) return await parts.requests.follow(request, call, signal);
      return { block: refusedToolResult(request.id, never.failure), record: null };
    }),
  );
}

export async function standing(parts: AgentParts, { callId }: ToolUseBlock): Promise<Call | undefined> {
  return await parts.options.host.engine.calls.find(parts.principal, callId);
}
