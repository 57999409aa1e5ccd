import type { ApprovalRequestView } from '@patchboard/wire';
import { say, select, selectedRequest, type InboxState } from './state.ts';

/** A key as `node:readline` tells it. */
export interface Key {
  readonly name?: string | undefined;
  readonly sequence?: string | undefined;
  readonly ctrl?: boolean | undefined;
  readonly meta?: boolean | undefined;
}

/** What a key asks to be done. */
export type Wish =
  | {
      readonly kind: 'approve';
      readonly request: ApprovalRequestView;
      readonly args?: { readonly value: unknown };
    }
  | { readonly kind: 'deny'; readonly request: ApprovalRequestView; readonly note: string }
  | { readonly kind: 'edit'; readonly request: ApprovalRequestView }
  | { readonly kind: 'refresh' }
  | { readonly kind: 'quit' };

export interface Pressed {
  readonly state: InboxState;
  readonly wish?: Wish;
}

export interface Surroundings {
  readonly now: number;
  /** Lines of the detail that fit on the screen. */
  readonly page: number;
}

/** A decision this soon after the selection moved by itself was meant for another request. */
const SETTLE_MS = 700;
const LONGEST_NOTE = 2000;

export function press(state: InboxState, key: Key, around: Surroundings): Pressed {
  if (key.ctrl === true && key.name === 'c') return { state, wish: { kind: 'quit' } };
  switch (state.mode.kind) {
    case 'busy':
      return { state };
    case 'reason':
      return inReason(state, state.mode, key);
    case 'review':
      return inReview(state, state.mode, key, around);
    case 'list':
      return inList({ ...state, message: null }, key, around);
  }
}

function inList(state: InboxState, key: Key, around: Surroundings): Pressed {
  const scrolled = scroll(state, key, around);
  if (scrolled !== null) return { state: scrolled };
  switch (key.name) {
    case 'j':
    case 'down':
      return { state: move(state, 1) };
    case 'k':
    case 'up':
      return { state: move(state, -1) };
    case 'a':
      return whenSeen(state, () =>
        onRequest(state, around, (request) => ({ state, wish: { kind: 'approve', request } })),
      );
    case 'd':
      return onRequest(state, around, (request) => ({
        state: { ...state, mode: { kind: 'reason', request, text: '' } },
      }));
    case 'e':
      return onRequest(state, around, (request) => ({ state, wish: { kind: 'edit', request } }));
    case 'r':
      return { state, wish: { kind: 'refresh' } };
    case 'q':
      return { state, wish: { kind: 'quit' } };
    default:
      return { state };
  }
}

/** Nobody lets run what they have not seen. */
function whenSeen(state: InboxState, act: () => Pressed): Pressed {
  if (state.sawEnd || state.items.length === 0) return act();
  return { state: say(state, 'there is more of it: Space goes on, End to its end', 'bad') };
}

/** Nobody decides on another request than they were looking at. */
function onRequest(
  state: InboxState,
  { now }: Surroundings,
  act: (request: ApprovalRequestView) => Pressed,
): Pressed {
  const request = selectedRequest(state);
  if (request === undefined) return { state: say(state, 'nothing waits') };
  if (now - state.movedAt < SETTLE_MS) {
    return { state: say(state, 'another request has just taken this place: look, then press again', 'bad') };
  }
  return act(request);
}

function inReason(
  state: InboxState,
  mode: Extract<InboxState['mode'], { kind: 'reason' }>,
  key: Key,
): Pressed {
  const { request, text } = mode;
  const typed = (next: string): Pressed => ({
    state: { ...state, mode: { ...mode, text: next.slice(0, LONGEST_NOTE) } },
  });
  switch (key.name) {
    case 'escape':
      return { state: { ...state, mode: { kind: 'list' } } };
    case 'return':
    case 'enter':
      return { state, wish: { kind: 'deny', request, note: text.trim() } };
    case 'backspace':
      return typed(Array.from(text).slice(0, -1).join(''));
    default:
      if (key.ctrl === true) return key.name === 'u' ? typed('') : { state };
      return isText(key) ? typed(text + key.sequence) : { state };
  }
}

function isText(key: Key): key is Key & { readonly sequence: string } {
  return key.meta !== true && key.sequence !== undefined && !/\p{Cc}/u.test(key.sequence);
}

function inReview(
  state: InboxState,
  mode: Extract<InboxState['mode'], { kind: 'review' }>,
  key: Key,
  around: Surroundings,
): Pressed {
  const scrolled = scroll(state, key, around);
  if (scrolled !== null) return { state: scrolled };
  const { request, args } = mode;
  switch (key.name) {
    case 'y':
    case 'a':
      return whenSeen(state, () => ({
        state,
        wish: { kind: 'approve', request, args: { value: args } },
      }));
    case 'e':
      return { state, wish: { kind: 'edit', request } };
    case 'n':
    case 'q':
    case 'escape':
      return {
        state: say({ ...state, mode: { kind: 'list' }, scroll: 0, sawEnd: false }, 'nothing decided'),
      };
    default:
      return { state };
  }
}

/** Null when the key does not scroll. Too far is put right where it is drawn. */
function scroll(state: InboxState, key: Key, { page }: Surroundings): InboxState | null {
  const by = (lines: number): InboxState => ({ ...state, scroll: Math.max(0, state.scroll + lines) });
  switch (key.name) {
    case 'space':
    case 'pagedown':
      return by(page);
    case 'b':
    case 'pageup':
      return by(-page);
    case 'end':
      return { ...state, scroll: Number.MAX_SAFE_INTEGER };
    case 'home':
      return { ...state, scroll: 0 };
    default:
      return null;
  }
}

function move(state: InboxState, by: number): InboxState {
  const { items, selected } = state;
  const index = items.findIndex((item) => item.tool_call_id === selected);
  const next = items[Math.min(Math.max(index + by, 0), items.length - 1)];
  return next === undefined
    ? state
    : { ...select(state, next.tool_call_id), movedAt: Number.NEGATIVE_INFINITY };
}
