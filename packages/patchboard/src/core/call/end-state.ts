import { type OutcomeKnowledge, reason } from '@patchboard/wire';
import { runsInProcess, type Call, type EndState } from './call.ts';
import { waitsForInput } from './input.ts';
import { endFailure, failure, type Failure } from '../failures.ts';
import { utf8Bytes } from '../json/utf8-bytes.ts';
import type { BadOutcome, Outcome } from './outcome.ts';

/** The outcome of a call whose deadline passed, by its open state. `idempotent`: whether the tool is. */
export function expiry(call: Call, outcome: OutcomeKnowledge, idempotent: boolean): BadOutcome {
  if (call.state.name === 'APPROVAL_REQUIRED') {
    return {
      kind: 'denied',
      failure: failure('approval_expired', reason('approval_ran_out')),
    };
  }
  if (waitsForInput(call))
    return {
      kind: 'timed_out',
      failure: endFailure('input_expired', reason('input_expired'), outcome, idempotent),
    };
  const waitsForSlot = runsInProcess(call) && call.state.name !== 'EXECUTING';
  if (waitsForSlot) return { kind: 'failed', failure: failure('queue_timeout', undefined, { outcome }) };
  return { kind: 'timed_out', failure: timeoutFailure(call, outcome, idempotent) };
}

function timeoutFailure(call: Call, outcome: OutcomeKnowledge, idempotent: boolean): Failure {
  const seconds = call.timeoutMs / 1000;
  const code = runsInProcess(call) ? 'no_result_in_time' : 'no_client_result_in_time';
  return endFailure('timeout', reason(code, { seconds }), outcome, idempotent);
}

/** Returns the failure, without its tool result, note and recommendations if these exceed `bytes`. */
export function keptFailure(given: Failure, bytes: number): Failure {
  const { toolResult, note, recommendations, ...rest } = given;
  if (toolResult === undefined && note === undefined && recommendations === undefined) return given;
  if (utf8Bytes(JSON.stringify([toolResult, note, recommendations])) <= bytes) return given;
  return { ...rest, message: `${rest.message} (its details are left out: they exceed ${bytes} bytes)` };
}

export function endState(outcome: BadOutcome, resultDigest: string | null): EndState {
  const { issues: _issues, rate: _rate, ...error } = outcome.failure;
  switch (outcome.kind) {
    case 'failed':
      // A time limit inside a tool is a timeout too: `state:timed_out` and `code:timeout` find the same calls.
      return { name: error.code === 'timeout' ? 'TIMED_OUT' : 'FAILED', error, resultDigest };
    case 'timed_out':
      return { name: 'TIMED_OUT', error, resultDigest };
    case 'denied':
      return { name: 'DENIED', error, resultDigest };
    case 'cancelled':
      return { name: 'CANCELLED', error, resultDigest };
    case 'sealed':
      return { name: 'SEALED', error, resultDigest };
  }
}

/** The inverse of `endState`. */
export function outcomeOf(state: EndState): Outcome {
  switch (state.name) {
    case 'COMPLETED':
      return { kind: 'ok', value: JSON.parse(state.resultJson) as unknown };
    case 'FAILED':
      return { kind: 'failed', failure: state.error };
    case 'TIMED_OUT':
      return { kind: 'timed_out', failure: state.error };
    case 'DENIED':
      return { kind: 'denied', failure: state.error };
    case 'CANCELLED':
      return { kind: 'cancelled', failure: state.error };
    case 'SEALED':
      return { kind: 'sealed', failure: state.error };
  }
}
