import { isTerminal, readableDuration, type CallView } from '@patchboard/wire';

/** A time span in epoch milliseconds. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

interface CallTimes extends Span {
  /** The first execution; null if it never ran. */
  readonly ranFrom: number | null;
}

/** Times come from the timeline, in milliseconds: `created_at` and `completed_at` are whole seconds. */
function timesOf(call: CallView, now: number): CallTimes {
  const at = (time: string | undefined): number | undefined =>
    time === undefined ? undefined : Date.parse(time);
  const from = at(call.timeline[0]?.at) ?? call.created_at * 1000;
  const last = call.timeline.at(-1);
  const ended = call.completed_at === null ? now : call.completed_at * 1000;
  const end = last !== undefined && isTerminal(last.state) ? (at(last.at) ?? ended) : ended;
  const to = Math.max(from, end);
  const ran = at(call.timeline.find(({ state }) => state === 'EXECUTING')?.at);
  return { from, to, ranFrom: ran === undefined ? null : Math.min(Math.max(ran, from), to) };
}

/** The time of all calls, at least a millisecond; an open call lasts until now. */
export function spanOf(calls: readonly CallView[], now: number): Span {
  const times = calls.map((call) => timesOf(call, now));
  const from = Math.min(...times.map((one) => one.from));
  return { from, to: Math.max(from + 1, ...times.map((one) => one.to)) };
}

export function spanText({ from, to }: Span): string {
  return readableDuration(to - from);
}

/** A bar of the call in the span: ░ before it ran, █ while it ran; at least one character. */
export function barOf(call: CallView, span: Span, width: number): string {
  const { from, ranFrom, to } = timesOf(call, span.to);
  const column = (at: number): number => Math.round(((at - span.from) / (span.to - span.from)) * width);
  const start = Math.min(column(from), width - 1);
  const end = Math.max(start + 1, column(to));
  // A call that ran has at least one block, even if it ended within the millisecond in which it began.
  const middle = ranFrom === null ? end : Math.min(Math.max(column(ranFrom), start), end - 1);
  return ' '.repeat(start) + '░'.repeat(middle - start) + '█'.repeat(end - middle);
}
