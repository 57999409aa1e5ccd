import {
  isCallState,
  isTerminal,
  type BatchCallView,
  type CallErrorView,
  type CallView,
} from '@patchboard/wire';
import { brief } from '../format.ts';
import { shownState } from './shown-state.ts';

/** What came of one request of a reply. */
export interface RequestOutcome {
  /** The id of its call; null if the request was refused. */
  readonly id: string | null;
  readonly state: string;
  /** Empty while the call is open, and of a refused request. */
  readonly result: string;
  /** Why the request was refused; null if it was not. */
  readonly refusal: CallErrorView | null;
}

/**
 * Returns the call of each request, null if there is none. Calls are in the order of the requests, but those that could not
 * be read have one too, and ids of vendors may repeat.
 */
export function callsOfRequests(
  requests: readonly { readonly requestId: string }[],
  calls: readonly BatchCallView[],
): readonly (BatchCallView | null)[] {
  const rest = calls.filter(({ tool_call_id: id, error }) => id !== null || error?.code !== 'body_invalid');
  return requests.map(({ requestId }) => {
    const at = rest.findIndex((call) => call.request_id === requestId);
    return at === -1 ? null : (rest.splice(at, 1)[0] ?? null);
  });
}

export function outcomeOf(call: CallView | BatchCallView): RequestOutcome {
  const { tool_call_id: id, state, error, result } = call;
  if (id === null || state === undefined) return { id: null, state: 'REFUSED', result: '', refusal: error };
  return {
    id,
    state: shownState(state, error?.code),
    result: isTerminal(state) ? brief(error ?? result, 200) : '',
    refusal: null,
  };
}

/** Returns the newer one. Responses and events arrive in any order: a call that has ended stays so. */
export function laterOutcome(before: RequestOutcome | null, after: RequestOutcome): RequestOutcome {
  const hadEnded = before !== null && before.id === after.id && !isOpenState(before.state);
  return hadEnded && isOpenState(after.state) ? before : after;
}

function isOpenState(state: string): boolean {
  return isCallState(state) && !isTerminal(state);
}
