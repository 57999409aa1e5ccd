/** The state shown for a call: an expired approval is shown as EXPIRED, although the call is DENIED. */
export function shownState(state: string, code: string | undefined): string {
  return state === 'DENIED' && code === 'approval_expired' ? 'EXPIRED' : state;
}
