import { isTerminal, type CallStateName } from '@patchboard/wire';
import { endOf, startOf, type TracedCall } from './traced-call.ts';

/** A time in which the call was in one state. */
export interface CallSegment {
  readonly state: CallStateName;
  /** Epoch milliseconds. */
  readonly from: number;
  readonly to: number;
  readonly attempt: number | null;
  /** Why it ended; empty if it ended well, or is not over. */
  readonly code: string;
  /** The call is still in this state. */
  readonly isOpen: boolean;
}

/** The segments of a call in order: each begins where the one before ends. The last one of an open call ends now. */
export function segmentsOf(call: TracedCall, now: number): readonly CallSegment[] {
  const end = endOf(call, now);
  return call.steps.flatMap((step, index) => {
    if (isTerminal(step.state)) return [];
    const next = call.steps[index + 1];
    const segment = {
      state: step.state,
      from: step.at,
      to: next?.at ?? end,
      attempt: step.attempt,
      code: next?.code ?? '',
      isOpen: next === undefined,
    };
    return [segment];
  });
}

/** The time that all calls of a waterfall share. */
export interface TimeScale {
  readonly from: number;
  readonly to: number;
}

export function scaleOf(calls: readonly TracedCall[], now: number): TimeScale {
  let from = Infinity;
  let to = -Infinity;
  for (const call of calls) {
    from = Math.min(from, startOf(call));
    to = Math.max(to, endOf(call, now));
  }
  return from === Infinity ? { from: now, to: now + 1 } : { from, to: Math.max(to, from + 1) };
}

/** Place of an interval on the scale, as fractions of it. */
export function placeOn(
  scale: TimeScale,
  { from, to }: Pick<CallSegment, 'from' | 'to'>,
): { readonly left: number; readonly width: number } {
  const whole = scale.to - scale.from;
  return { left: (from - scale.from) / whole, width: Math.max(to - from, 0) / whole };
}

/** How long at least one of the intervals lasted: where they overlap, the time counts once. */
export function unionMs(intervals: readonly Pick<CallSegment, 'from' | 'to'>[]): number {
  let total = 0;
  let reached = -Infinity;
  for (const { from, to } of [...intervals].sort((one, other) => one.from - other.from)) {
    total += Math.max(0, to - Math.max(from, reached));
    reached = Math.max(reached, to);
  }
  return total;
}
