import type { PatchboardClient } from '@patchboard/client';
import type { ApprovalRequestView } from '@patchboard/wire';
import { messageOf } from '../../core/failures.ts';
import type { Output } from '../output.ts';
import { verbatimJson } from '../terminal-text.ts';
import { press, type Key, type Wish } from './keys.ts';
import { drawFrame } from './screen.ts';
import { EMPTY, say, withItems, without, type InboxState } from './state.ts';
import { Painter, type InboxTerminal } from './terminal.ts';
import { readWaiting, WaitingList, type WaitingListClient } from './waiting-list.ts';

export interface InboxParts {
  readonly client: WaitingListClient & Pick<PatchboardClient, 'decide'>;
  readonly terminal: InboxTerminal;
  /** The server, for the title. */
  readonly where: string;
  readonly paint: Output['paint'];
  now(): number;
  /** Calls until the answer is called. */
  every(ms: number, action: () => void): () => void;
  /** Null: the person gave up. */
  edit(text: string, signal: AbortSignal): Promise<string | null>;
}

const TICK_MS = 1000;
/** The list is asked for this often even if no event calls for it: a stream may be cut without a word. */
const TICKS_PER_LOAD = 10;

/** Runs until the person quits or a signal ends it; the answer is that signal. */
export async function runInbox(parts: InboxParts): Promise<NodeJS.Signals | null> {
  // Before the screen is taken: what goes wrong here is told like any other error.
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
  /** The editor has the terminal. */
  #isAway = false;
  /** What came out of the editor last, to go on from. */
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
        // Ctrl-C while the editor is open is the editor's.
        if (!this.#isAway || signal !== 'SIGINT') this.#end?.resolve(signal);
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
    if (this.#isAway) return;
    const { state, wish } = press(this.#state, key, { now: this.#parts.now(), page: this.#page });
    this.#set(state);
    if (wish !== undefined) this.#fulfil(wish).catch((error: unknown) => this.#end?.reject(error));
  }

  async #fulfil(wish: Wish): Promise<void> {
    switch (wish.kind) {
      case 'quit':
        return this.#end?.resolve(null);
      case 'refresh':
        return this.#waiting.load();
      case 'edit':
        return this.#edit(wish.request);
      case 'approve':
      case 'deny':
        return this.#decide(wish);
    }
  }

  async #decide(wish: Extract<Wish, { kind: 'approve' | 'deny' }>): Promise<void> {
    const { request } = wish;
    const id = request.tool_call_id;
    this.#set({ ...this.#state, mode: { kind: 'busy' }, message: null });
    try {
      await this.#parts.client.decide(id, {
        decision: wish.kind === 'approve' ? 'allow' : 'deny',
        digest: request.digest,
        ...(wish.kind === 'deny' && wish.note !== '' ? { note: wish.note } : {}),
        ...(wish.kind === 'approve' && wish.args !== undefined ? { args: wish.args.value } : {}),
      });
      const done = without({ ...this.#state, mode: { kind: 'list' } }, id, this.#parts.now());
      const word = wish.kind === 'approve' ? 'approved' : 'denied';
      this.#set(say(done, `${word} ${request.tool_name} ${id}`, 'good'));
    } catch (error) {
      this.#set(say({ ...this.#state, mode: { kind: 'list' } }, messageOf(error), 'bad'));
    }
    await this.#waiting.load();
  }

  async #edit(request: ApprovalRequestView): Promise<void> {
    const { terminal } = this.#parts;
    const start = this.#draft?.id === request.tool_call_id ? this.#draft.text : verbatimJson(request.args);
    this.#isAway = true;
    terminal.leave();
    let text: string | null = null;
    try {
      text = await this.#parts.edit(start, this.#stop.signal);
      if (text === null) this.#state = say(this.#state, 'the editor gave up; nothing changed');
    } catch (error) {
      this.#state = say(this.#state, `the editor failed: ${messageOf(error)}`, 'bad');
    }
    if (this.#stop.signal.aborted) return;
    terminal.enter();
    this.#isAway = false;
    if (text !== null) this.#state = this.#edited(request, text);
    this.#redraw();
  }

  /** What came out of the editor is to be looked at once more before it runs. */
  #edited(request: ApprovalRequestView, text: string): InboxState {
    const id = request.tool_call_id;
    const list: InboxState = { ...this.#state, mode: { kind: 'list' } };
    if (list.selected !== id) return say(list, `${id} no longer waits`, 'bad');
    this.#draft = { id, text };
    let args: unknown;
    try {
      args = JSON.parse(text);
    } catch (error) {
      return say(list, `not JSON: ${messageOf(error)}; E goes on editing`, 'bad');
    }
    if (JSON.stringify(args) === JSON.stringify(request.args)) return say(list, 'nothing changed');
    return { ...list, mode: { kind: 'review', request, args }, scroll: 0, sawEnd: false, message: null };
  }

  #tick(): void {
    this.#ticks += 1;
    // Soon after the start once more: something may have come between the first look and the stream.
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
    if (this.#isAway) return;
    this.#painter.forget();
    this.#draw();
  }

  #draw(): void {
    if (this.#isAway || this.#stop.signal.aborted) return;
    const { terminal, where, paint } = this.#parts;
    const frame = drawFrame(this.#state, { size: terminal.size(), now: this.#parts.now(), where, paint });
    this.#page = frame.page;
    this.#state = { ...this.#state, scroll: frame.scroll, sawEnd: this.#state.sawEnd || frame.isAtEnd };
    this.#painter.draw(frame.lines);
  }
}
