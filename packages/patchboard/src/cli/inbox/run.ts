import type { PatchboardClient } from '@patchboard/client';
import type { ApprovalRequestView } from '@patchboard/wire';
import { messageOf } from '../../core/failures.ts';
import type { Output } from '../output.ts';
import { verbatimJson } from '../terminal-text.ts';
import { press, type InboxAction, type Key } from './keys.ts';
import { drawFrame } from './screen.ts';
import { EMPTY, withItems, withMessage, without, type InboxState } from './state.ts';
import { Painter, type InboxTerminal } from './terminal.ts';
import { readWaiting, WaitingList, type WaitingListClient } from './waiting-list.ts';

export interface InboxParts {
  readonly client: WaitingListClient & Pick<PatchboardClient, 'decide'>;
  readonly terminal: InboxTerminal;
  /** The URL of the server, for the title. */
  readonly where: string;
  readonly paint: Output['paint'];
  now(): number;
  /** Calls `action` periodically. Returns a function that stops it. */
  every(ms: number, action: () => void): () => void;
  /** Resolves to null if the editor fails. */
  edit(text: string, signal: AbortSignal): Promise<string | null>;
}

const TICK_MS = 1000;
/** The list is also loaded without an event, because an event stream may break unnoticed. */
const TICKS_PER_LOAD = 10;

/** Runs until the user quits or a signal arrives. Resolves to that signal, or to null. */
export async function runInbox(parts: InboxParts): Promise<NodeJS.Signals | null> {
  // Before the alternate screen is entered, so that an error is printed normally.
  const first = await readWaiting(parts.client);
  return await new Inbox(parts, first).run();
}

class Inbox {
  readonly #parts: InboxParts;
  readonly #painter: Painter;
  readonly #waiting: WaitingList;
  readonly #stop: AbortController = new AbortController();
  #end: { resolve(signal: NodeJS.Signals | null): void; reject(error: unknown): void } | null = null;
  #state: InboxState;
  #page = 1;
  #ticks = 0;
  /** Whether the editor has the terminal. */
  #isEditing = false;
  /** The text of the last edit, for editing it again. */
  #draft: { readonly id: string; readonly text: string } | null = null;

  constructor(parts: InboxParts, first: readonly ApprovalRequestView[]) {
    this.#parts = parts;
    this.#painter = new Painter(parts.terminal);
    this.#state = { ...withItems(EMPTY, first, parts.now()), movedAt: Number.NEGATIVE_INFINITY };
    const listener = {
      changed: (items: readonly ApprovalRequestView[]) =>
        this.#set(withItems(this.#state, items, parts.now())),
      lost: () => this.#set({ ...this.#state, isLive: false }),
      failed: (error: unknown) => this.#end?.reject(error),
    };
    const { signal } = this.#stop;
    this.#waiting = new WaitingList(parts.client, listener, { known: first, signal });
  }

  async run(): Promise<NodeJS.Signals | null> {
    const { terminal } = this.#parts;
    const ended = new Promise<NodeJS.Signals | null>((resolve, reject) => {
      this.#end = { resolve, reject };
    });
    terminal.enter();
    const off = [
      terminal.onKey((key) => this.#press(key)),
      terminal.onResize(() => this.#redraw()),
      terminal.onSignal((signal) => {
        // Ctrl-C while the editor is open is meant for the editor.
        if (!this.#isEditing || signal !== 'SIGINT') this.#end?.resolve(signal);
      }),
      this.#parts.every(TICK_MS, () => this.#tick()),
    ];
    this.#draw();
    const following = this.#waiting.follow();
    try {
      return await ended;
    } finally {
      this.#stop.abort();
      for (const end of off) end();
      terminal.leave();
      await following;
    }
  }

  #press(key: Key): void {
    if (this.#isEditing) return;
    const { state, action } = press(this.#state, key, { now: this.#parts.now(), page: this.#page });
    this.#set(state);
    if (action !== undefined) this.#perform(action).catch((error: unknown) => this.#end?.reject(error));
  }

  async #perform(action: InboxAction): Promise<void> {
    switch (action.kind) {
      case 'quit':
        return this.#end?.resolve(null);
      case 'refresh':
        return this.#waiting.load();
      case 'edit':
        return this.#edit(action.request);
      case 'approve':
      case 'deny':
        return this.#decide(action);
    }
  }

  async #decide(action: Extract<InboxAction, { kind: 'approve' | 'deny' }>): Promise<void> {
    const { request } = action;
    const id = request.tool_call_id;
    this.#set({ ...this.#state, mode: { kind: 'busy' }, message: null });
    try {
      await this.#parts.client.decide(id, {
        decision: action.kind === 'approve' ? 'allow' : 'deny',
        digest: request.digest,
        ...(action.kind === 'deny' && action.note !== '' ? { note: action.note } : {}),
        ...(action.kind === 'approve' && action.args !== undefined ? { args: action.args.value } : {}),
      });
      const done = without({ ...this.#state, mode: { kind: 'list' } }, id, this.#parts.now());
      const word = action.kind === 'approve' ? 'approved' : 'denied';
      this.#set(withMessage(done, `${word} ${request.tool_name} ${id}`, 'good'));
    } catch (error) {
      this.#set(withMessage({ ...this.#state, mode: { kind: 'list' } }, messageOf(error), 'bad'));
    }
    await this.#waiting.load();
  }

  async #edit(request: ApprovalRequestView): Promise<void> {
    const { terminal } = this.#parts;
    const start = this.#draft?.id === request.tool_call_id ? this.#draft.text : verbatimJson(request.args);
    this.#isEditing = true;
    terminal.leave();
    let text: string | null = null;
    try {
      text = await this.#parts.edit(start, this.#stop.signal);
      if (text === null) this.#state = withMessage(this.#state, 'the editor failed; nothing changed');
    } catch (error) {
      this.#state = withMessage(this.#state, `the editor failed: ${messageOf(error)}`, 'bad');
    }
    if (this.#stop.signal.aborted) return;
    terminal.enter();
    this.#isEditing = false;
    if (text !== null) this.#state = this.#edited(request, text);
    this.#redraw();
  }

  /** Switches to the review of the edited arguments before they are approved. */
  #edited(request: ApprovalRequestView, text: string): InboxState {
    const id = request.tool_call_id;
    const list: InboxState = { ...this.#state, mode: { kind: 'list' } };
    if (list.selected !== id) return withMessage(list, `${id} no longer waits`, 'bad');
    this.#draft = { id, text };
    let args: unknown;
    try {
      args = JSON.parse(text);
    } catch (error) {
      return withMessage(list, `not JSON: ${messageOf(error)}; press E to edit again`, 'bad');
    }
    if (JSON.stringify(args) === JSON.stringify(request.args)) return withMessage(list, 'nothing changed');
    return { ...list, mode: { kind: 'review', request, args }, scroll: 0, sawEnd: false, message: null };
  }

  #tick(): void {
    this.#ticks += 1;
    // Also at the first tick: a request may have arrived between the first load and the start of the event stream.
    if (this.#ticks % TICKS_PER_LOAD === 1) {
      this.#waiting.load().catch((error: unknown) => this.#end?.reject(error));
    }
    this.#draw();
  }

  #set(state: InboxState): void {
    this.#state = state;
    this.#draw();
  }

  #redraw(): void {
    if (this.#isEditing) return;
    this.#painter.forget();
    this.#draw();
  }

  #draw(): void {
    if (this.#isEditing || this.#stop.signal.aborted) return;
    const { terminal, where, paint } = this.#parts;
    const frame = drawFrame(this.#state, { size: terminal.size(), now: this.#parts.now(), where, paint });
    this.#page = frame.page;
    this.#state = { ...this.#state, scroll: frame.scroll, sawEnd: this.#state.sawEnd || frame.isAtEnd };
    this.#painter.draw(frame.lines);
  }
}
