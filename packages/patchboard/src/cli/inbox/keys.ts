import type { ApprovalRequestView } from '@patchboard/wire';
import { select, selectedRequest, withMessage, type InboxState } from './state.ts';

/** A key of a `keypress` event of `node:readline`. */
export interface Key {
  readonly name?: string | undefined;
  readonly sequence?: string | undefined;
  readonly ctrl?: boolean | undefined;
  readonly meta?: boolean | undefined;
}

/** The action that a key triggers. */
export type InboxAction =
  | {
      readonly kind: 'approve';
      readonly request: ApprovalRequestView;
      readonly args?: { readonly value: unknown };
    }
  | { readonly kind: 'deny'; readonly request: ApprovalRequestView; readonly note: string }
  | { readonly kind: 'edit'; readonly request: ApprovalRequestView }
  | { readonly kind: 'refresh' }
  | { readonly kind: 'quit' };

export interface KeyResult {
  readonly state: InboxState;
  readonly action?: InboxAction;
}

export interface KeyContext {
  readonly now: number;
  /** Number of lines of the detail that fit on the screen. */
  readonly page: number;
}

/** A decision within this time after the selection moved by itself was probably meant for another request. */
const SETTLE_MS = 700;
const LONGEST_NOTE = 2000;

export function press(state: InboxState, key: Key, context: KeyContext): KeyResult {
  if (key.ctrl === true && key.name === 'c') return { state, action: { kind: 'quit' } };
  switch (state.mode.kind) {
    case 'busy':
      return { state };
    case 'reason':
      return inReason(state, state.mode, key);
    case 'review':
      return inReview(state, state.mode, key, context);
    case 'list':
      return inList({ ...state, message: null }, key, context);
  }
}

function inList(state: InboxState, key: Key, context: KeyContext): KeyResult {
  const scrolled = scroll(state, key, context);
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
        onRequest(state, context, (request) => ({ state, action: { kind: 'approve', request } })),
      );
    case 'd':
      return onRequest(state, context, (request) => ({
        state: { ...state, mode: { kind: 'reason', request, text: '' } },
      }));
    case 'e':
      return onRequest(state, context, (request) => ({ state, action: { kind: 'edit', request } }));
    case 'r':
      return { state, action: { kind: 'refresh' } };
    case 'q':
      return { state, action: { kind: 'quit' } };
    default:
      return { state };
  }
}

/** Approves only after the whole request has been on the screen. */
function whenSeen(state: InboxState, act: () => KeyResult): KeyResult {
  if (state.sawEnd || state.items.length === 0) return act();
  return { state: withMessage(state, 'there is more of it: scroll with Space, or press End', 'bad') };
}

/** Prevents a decision on a request that has just replaced the one the user was looking at. */
function onRequest(
  state: InboxState,
  { now }: KeyContext,
  act: (request: ApprovalRequestView) => KeyResult,
): KeyResult {
  const request = selectedRequest(state);
  if (request === undefined) return { state: withMessage(state, 'nothing waits') };
  if (now - state.movedAt < SETTLE_MS) {
    return {
      state: withMessage(
        state,
        'another request has just taken this place: check it, then press again',
        'bad',
      ),
    };
  }
  return act(request);
}

function inReason(
  state: InboxState,
  mode: Extract<InboxState['mode'], { kind: 'reason' }>,
  key: Key,
): KeyResult {
  const { request, text } = mode;
  const typed = (next: string): KeyResult => ({
    state: { ...state, mode: { ...mode, text: next.slice(0, LONGEST_NOTE) } },
  });
  switch (key.name) {
    case 'escape':
      return { state: { ...state, mode: { kind: 'list' } } };
    case 'return':
    case 'enter':
      return { state, action: { kind: 'deny', request, note: text.trim() } };
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
  context: KeyContext,
): KeyResult {
  const scrolled = scroll(state, key, context);
  if (scrolled !== null) return { state: scrolled };
  const { request, args } = mode;
  switch (key.name) {
    case 'y':
    case 'a':
      return whenSeen(state, () => ({
        state,
        action: { kind: 'approve', request, args: { value: args } },
      }));
    case 'e':
      return { state, action: { kind: 'edit', request } };
    case 'n':
    case 'q':
    case 'escape':
      return {
        state: withMessage({ ...state, mode: { kind: 'list' }, scroll: 0, sawEnd: false }, 'nothing decided'),
      };
    default:
      return { state };
  }
}

/** Returns null if the key does not scroll. `drawFrame` clamps the position. */
function scroll(state: InboxState, key: Key, { page }: KeyContext): InboxState | null {
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
