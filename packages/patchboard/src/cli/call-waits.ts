import { isTerminal, readableDuration, type CallStateName, type CallView } from '@patchboard/wire';

/** Shorter waits for a slot or a client are not named: every call has one. */
const SHORT_WAIT_MS = 100;

/**
 * Returns what a call waited for and how long: `approval 12.3 s (approved by ana), input 3.02 s`. Empty if it waited only
 * briefly. An open call waits until `now`.
 */
export function waitsText(call: CallView, now: number): string {
  const spent = (...states: readonly CallStateName[]): number => timeIn(call, states, now);
  const queued = spent('PENDING', 'APPROVED');
  return [
    ...(queued < SHORT_WAIT_MS ? [] : [`queue ${readableDuration(queued)}`]),
    ...(has(call, 'APPROVAL_REQUIRED')
      ? [`approval ${readableDuration(spent('APPROVAL_REQUIRED'))} (${decisionText(call)})`]
      : []),
    ...(has(call, 'INPUT_REQUIRED')
      ? [
          `input ${readableDuration(spent('INPUT_REQUIRED'))}${call.state === 'INPUT_REQUIRED' ? ' (waiting)' : ''}`,
        ]
      : []),
  ].join(', ');
}

function has({ timeline }: CallView, wanted: CallStateName): boolean {
  return timeline.some(({ state }) => state === wanted);
}

/** Each state lasts until the next entry of the timeline. */
function timeIn({ timeline }: CallView, states: readonly CallStateName[], now: number): number {
  return timeline.reduce((sum, { state, at }, index) => {
    if (!states.includes(state) || isTerminal(state)) return sum;
    const next = timeline[index + 1];
    return sum + Math.max(0, (next === undefined ? now : Date.parse(next.at)) - Date.parse(at));
  }, 0);
}

function decisionText({ approval, state, error }: CallView): string {
  if (state === 'APPROVAL_REQUIRED') return 'waiting';
  const { decision, decided_by: by = 'unknown' } = approval ?? {};
  if (decision !== undefined) return `${decision === 'allow' ? 'approved' : 'denied'} by ${by}`;
  return error?.code === 'approval_expired' ? 'expired' : 'not decided';
}
