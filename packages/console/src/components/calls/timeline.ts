import { isTerminal, type CallStateName, type CallView } from '@patchboard/wire';

/** One interval of a call's timeline; widths are fractions of the whole. */
export interface Stretch {
  readonly state: CallStateName;
  readonly attempt: number | null;
  readonly code: string;
  readonly startMs: number;
  readonly lengthMs: number;
  readonly left: number;
  readonly width: number;
  /** The call is still in this state. */
  readonly isOpen: boolean;
}

/** One interval per state; the last one of an open call ends now. */
export function stretchesOf(call: Pick<CallView, 'timeline'>, now: number): readonly Stretch[] {
  const entries = call.timeline.map((entry) => ({ ...entry, ms: Date.parse(entry.at) }));
  const first = entries[0];
  const last = entries.at(-1);
  if (first === undefined || last === undefined) return [];
  const isOver = isTerminal(last.state);
  const end = isOver ? last.ms : Math.max(now, last.ms);
  const whole = Math.max(end - first.ms, 1);
  return entries.flatMap((entry, index) => {
    const next = entries[index + 1];
    if (next === undefined && isOver) return [];
    const until = next?.ms ?? end;
    const lengthMs = Math.max(until - entry.ms, 0);
    return [
      {
        state: entry.state,
        attempt: entry.attempt ?? null,
        code: entry.code ?? '',
        startMs: entry.ms - first.ms,
        lengthMs,
        left: (entry.ms - first.ms) / whole,
        width: lengthMs / whole,
        isOpen: next === undefined,
      },
    ];
  });
}
