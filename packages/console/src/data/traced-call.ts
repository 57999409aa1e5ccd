import type { CallErrorView, CallStateEvent, CallStateName, CallView } from '@patchboard/wire';
import { isTerminal } from '@patchboard/wire';
import { brief } from '../format.ts';

/** The call entered a state. */
interface TracedStep {
  readonly state: CallStateName;
  /** Epoch milliseconds. */
  readonly at: number;
  readonly attempt: number | null;
  readonly code: string;
}

/** The fields of a call that a waterfall shows; the others are dropped to save memory. */
export interface TracedCall {
  readonly id: string;
  readonly run: string;
  readonly tool: string;
  readonly agent: string;
  /** The call that the sub-agent which made this one works for. */
  readonly parent: string | null;
  readonly state: CallStateName;
  /** The failure code; empty if it has none. */
  readonly code: string;
  /** Null if the call has not failed, and if its failure is known from events only. */
  readonly error: CallErrorView | null;
  readonly args: string;
  /** Never empty. */
  readonly steps: readonly [TracedStep, ...TracedStep[]];
}

export function tracedCall(call: CallView): TracedCall {
  const [first, ...others] = call.timeline.map(({ state, at, attempt, code }) => ({
    state,
    at: Date.parse(at),
    attempt: attempt ?? null,
    code: code ?? '',
  }));
  const created = { state: call.state, at: call.created_at * 1000, attempt: null, code: '' };
  return {
    id: call.tool_call_id,
    run: call.run_id,
    tool: call.tool_name,
    agent: call.agent_id,
    parent: call.parent_call_id ?? null,
    state: call.state,
    code: call.error?.code ?? '',
    error: call.error,
    args: brief(call.args, 200),
    steps: [first ?? created, ...others],
  };
}

function stepOf({ state, at, attempt, code }: CallStateEvent): TracedStep {
  return { state, at: Date.parse(at), attempt: attempt ?? null, code: code ?? '' };
}

/** A call that is known from its first event only: the event has no arguments. */
export function callOfEvent(event: CallStateEvent): TracedCall {
  return {
    id: event.tool_call_id,
    run: event.run_id,
    tool: event.tool_name,
    agent: event.agent_id,
    parent: event.parent_call_id ?? null,
    state: event.state,
    code: event.code ?? '',
    error: null,
    args: '',
    steps: [stepOf(event)],
  };
}

/** Returns the call after the event; the same object if it had the step already, as a call that was read later than the event has. */
export function afterEvent(call: TracedCall, event: CallStateEvent): TracedCall {
  const step = stepOf(event);
  const last = call.steps.at(-1) ?? call.steps[0];
  const isKnown = call.steps.some(
    ({ state, at, attempt }) => state === step.state && at === step.at && attempt === step.attempt,
  );
  if (isKnown || step.at < last.at || isTerminal(last.state)) return call;
  return { ...call, state: step.state, code: step.code, steps: [...call.steps, step] };
}

export function isOpenCall({ state }: TracedCall): boolean {
  return !isTerminal(state);
}

export function startOf({ steps: [first] }: TracedCall): number {
  return first.at;
}

/** The end of the call; `now` while it is open. */
export function endOf(call: TracedCall, now: number): number {
  const last = call.steps.at(-1) ?? call.steps[0];
  return isTerminal(last.state) ? last.at : Math.max(now, last.at);
}
