import type { ApprovalRequestView } from '@patchboard/wire';

/** What the keys mean at the moment. */
export type Mode =
  | { readonly kind: 'list' }
  /** A denial waits for its reason. */
  | { readonly kind: 'reason'; readonly request: ApprovalRequestView; readonly text: string }
  /** Edited arguments are shown beside the old ones. */
  | { readonly kind: 'review'; readonly request: ApprovalRequestView; readonly args: unknown }
  /** Something is under way. */
  | { readonly kind: 'busy' };

export interface Message {
  readonly text: string;
  readonly tone: 'good' | 'bad' | 'plain';
}

export interface InboxState {
  /** The one that expires first stands first; what arrives goes to the end, so nothing moves under a finger. */
  readonly items: readonly ApprovalRequestView[];
  readonly selected: string | null;
  /** First line of the detail that is shown. */
  readonly scroll: number;
  /** Whether the last line of what will run has been on the screen. */
  readonly sawEnd: boolean;
  /** When the selection last moved without a key. */
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

export function say(state: InboxState, text: string, tone: Message['tone'] = 'plain'): InboxState {
  return { ...state, message: { text, tone } };
}

export function select(state: InboxState, selected: string | null): InboxState {
  return selected === state.selected ? state : { ...state, selected, scroll: 0, sawEnd: false };
}

/** Puts the list in place. Whoever looks at a request goes on looking at it for as long as it waits. */
export function withItems(state: InboxState, given: readonly ApprovalRequestView[], now: number): InboxState {
  const items = [...given].sort(byExpiry);
  const next: InboxState = { ...state, items, isLive: true };
  if (items.some((item) => item.tool_call_id === state.selected)) return next;
  const index = state.items.findIndex((item) => item.tool_call_id === state.selected);
  const neighbour = items[Math.min(Math.max(index, 0), items.length - 1)]?.tool_call_id ?? null;
  const moved = { ...select(next, neighbour), movedAt: now };
  const { mode } = state;
  if (mode.kind === 'list' || mode.kind === 'busy') return moved;
  return say({ ...moved, mode: { kind: 'list' } }, `${state.selected} no longer waits`, 'bad');
}

/** After a decision: its request is gone, whatever the next answer of the server says. */
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
