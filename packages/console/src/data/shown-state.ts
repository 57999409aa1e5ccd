/** What a call's state is called on the page: nobody denied a request that expired, though it is DENIED. */
export function shownState(state: string, code: string | undefined): string {
  return state === 'DENIED' && code === 'approval_expired' ? 'EXPIRED' : state;
}
