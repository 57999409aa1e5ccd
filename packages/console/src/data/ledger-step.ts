import { CALL_STATES, type CallStateName, type LedgerRowView } from '@patchboard/wire';

/** The state that a call entered, with its failure code; null if the row is of something else. */
export function stepOfRow({
  kind,
  body,
}: Pick<LedgerRowView, 'kind' | 'body'>): { readonly state: CallStateName; readonly code: string } | null {
  if (kind !== 'call.state' || typeof body !== 'object' || body === null) return null;
  const { state, code } = body as { readonly state?: unknown; readonly code?: unknown };
  const entered = CALL_STATES.find((name) => name === state);
  return entered === undefined ? null : { state: entered, code: typeof code === 'string' ? code : '' };
}
