import { reason } from '@patchboard/wire';
import { isOpen, type Call } from '../../core/call/call.ts';
import { waitsForInput } from '../../core/call/input.ts';
import { failure } from '../../core/failures.ts';
import type { ToolUseBlock } from '../../protocols/messages.ts';
import type { BadOutcome } from '../../core/call/outcome.ts';
import { refusedToolResult } from '../../sdk/tool-result.ts';
import type { AgentParts } from '../assembly.ts';
import type { RequestResult } from '../loop/tool-requests.ts';

const NOT_STARTED: BadOutcome = {
  kind: 'sealed',
  failure: failure('interrupted', reason('agent_stopped'), {
    outcome: 'not_started',
  }),
};

/** With `mode: 'manual'`: the user sent a new message instead of running the request. */
const NOT_RUN: BadOutcome = {
  kind: 'cancelled',
  failure: failure('cancelled', reason('agent_went_on'), {
    outcome: 'not_started',
  }),
};

export interface RestoredCalls {
  readonly sealed: readonly { readonly callId: string; readonly outcome: 'unknown' | 'not_started' }[];
  readonly waiting: readonly string[];
  /** Whether every request has ended. */
  readonly isOver: boolean;
}

/**
 * After a crash the engine has sealed the calls that were running. This seals requests without a recorded call, and
 * restores the agent's hooks for calls that are still waiting. With `mode: 'manual'`, requests without a call stay held.
 */
export async function sealUnstarted(parts: AgentParts): Promise<RestoredCalls> {
  const calls: Call[] = [];
  let held = 0;
  for (const request of parts.transcript.openRequests) {
    const recorded = await recordedCall(parts, request);
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
    waiting: calls.filter(isWaiting).map(({ id }) => id),
    isOver: held === 0 && !calls.some(isOpen),
  };
}

function isWaiting(call: Call): boolean {
  return call.state.name === 'APPROVAL_REQUIRED' || waitsForInput(call);
}

/** Returns a result for every request of the last reply, from its recorded call if there is one. */
export async function resultsOfOpenRequests(
  parts: AgentParts,
  signal: AbortSignal,
): Promise<RequestResult[]> {
  const never = parts.options.isManual ? NOT_RUN : NOT_STARTED;
  return await Promise.all(
    parts.transcript.openRequests.map(async (request) => {
      const call = (await recordedCall(parts, request)) ?? (await parts.requests.recordEnded(request, never));
      if (call !== null) return await parts.requests.follow(request, call, signal);
      return { block: refusedToolResult(request.id, never.failure), record: null };
    }),
  );
}

export async function recordedCall(parts: AgentParts, { callId }: ToolUseBlock): Promise<Call | undefined> {
  return await parts.options.host.engine.calls.find(parts.principal, callId);
}
