import type { ApprovalRequestView } from '@patchboard/wire';

/** Determines the meaning of the keys. */
type Mode =
  | { readonly kind: 'list' }
  /** The user types the reason of a denial. */
  | { readonly kind: 'reason'; readonly request: ApprovalRequestView; readonly text: string }
  /** The screen shows the changes of edited arguments. */
  | { readonly kind: 'review'; readonly request: ApprovalRequestView; readonly args: unknown }
  /** A decision is being sent. */
  | { readonly kind: 'busy' };

export interface Message {
  readonly text: string;
  readonly tone: 'good' | 'bad' | 'plain';
}

export interface InboxState {
  /** Sorted by expiry, so that new requests are added at the end and the others keep their place. */
  readonly items: readonly ApprovalRequestView[];
  readonly selected: string | null;
  /** First visible line of the detail. */
  readonly scroll: number;
  /** Whether the last line of the selected request has been on the screen. */
  readonly sawEnd: boolean;
  /** When the selection last changed without a key. */
  readonly movedAt: number;
  readonly mode: Mode;
  readonly message: Message | null;
  readonly isLive: boolean;
}

export const EMPTY: InboxState = {
  items: [],
  selected: null,
  scroll: 0,
  sawEnd: false,
  movedAt: Number.NEGATIVE_INFINITY,
  mode: { kind: 'list' },
  message: null,
  isLive: true,
};

export function selectedRequest({ items, selected }: InboxState): ApprovalRequestView | undefined {
  return items.find((item) => item.tool_call_id === selected);
}

export function withMessage(state: InboxState, text: string, tone: Message['tone'] = 'plain'): InboxState {
  return { ...state, message: { text, tone } };
}

export function select(state: InboxState, selected: string | null): InboxState {
  return selected === state.selected ? state : { ...state, selected, scroll: 0, sawEnd: false };
}

/** Replaces the list. Keeps the selected request selected while it waits. */
export function withItems(state: InboxState, given: readonly ApprovalRequestView[], now: number): InboxState {
  const items = [...given].sort(byExpiry);
  const next: InboxState = { ...state, items, isLive: true };
  if (items.some((item) => item.tool_call_id === state.selected)) return next;
  const index = state.items.findIndex((item) => item.tool_call_id === state.selected);
  const neighbour = items[Math.min(Math.max(index, 0), items.length - 1)]?.tool_call_id ?? null;
  const moved = { ...select(next, neighbour), movedAt: now };
  const { mode } = state;
  if (mode.kind === 'list' || mode.kind === 'busy') return moved;
  return withMessage({ ...moved, mode: { kind: 'list' } }, `${state.selected} no longer waits`, 'bad');
}

/** Removes the request of a decision at once, without waiting for the next load. */
export function without(state: InboxState, id: string, now: number): InboxState {
  return withItems(
    state,
    state.items.filter((item) => item.tool_call_id !== id),
    now,
  );
}

function byExpiry(one: ApprovalRequestView, other: ApprovalRequestView): number {
  return one.expires_at.localeCompare(other.expires_at) || one.tool_call_id.localeCompare(other.tool_call_id);
}
