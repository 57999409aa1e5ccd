import type { Subscription, TabMessage } from './hub-messages.ts';
import type { FollowServer } from './server-stream.ts';
import { SharedStream, type TabPort } from './shared-stream.ts';

/** A browser opens six connections to one host: half are used for streams, the others remain for requests. */
export const MAX_STREAMS = 3;
/** A tab in the background may send a heartbeat once a minute; one that crashed sends none. */
const SILENT_TAB_MS = 300_000;

/** More than any time in milliseconds. */
const VISIBLE_RANK = 2 ** 50;

interface Tab {
  readonly stream: SharedStream;
  readonly isVisible: boolean;
  /** When it last became visible. */
  readonly shownAt: number;
  readonly heardAt: number;
}

/**
 * The event streams of all tabs: one for each subscription, at most `MAX_STREAMS` at once. The subscriptions of visible
 * tabs come first, then those shown last; the others are paused until one of their tabs is shown.
 */
export class EventHub {
  readonly #follow: FollowServer;
  readonly #now: () => number;
  readonly #streams: Map<string, SharedStream> = new Map();
  readonly #tabs: Map<TabPort, Tab> = new Map();

  constructor(follow: FollowServer, now: () => number = Date.now) {
    this.#follow = follow;
    this.#now = now;
  }

  receive(port: TabPort, message: TabMessage): void {
    if (message.kind === 'leave') this.#forget(port);
    else this.#join(port, message, message.isVisible);
    this.#forgetSilentTabs();
    this.#assignConnections();
  }

  #join(port: TabPort, subscription: Subscription, isVisible: boolean): void {
    const before = this.#tabs.get(port);
    const stream = this.#streamOf(subscription);
    const isNew = before?.stream !== stream;
    if (isNew) this.#forget(port);
    const now = this.#now();
    const isShownNow = isVisible && before?.isVisible !== true;
    const shownAt = isShownNow ? now : (before?.shownAt ?? 0);
    this.#tabs.set(port, { stream, isVisible, shownAt, heardAt: now });
    stream.tabs.add(port);
    stream.report(port, isNew);
  }

  #streamOf({ proof, tenant }: Subscription): SharedStream {
    const key = JSON.stringify([proof, tenant]);
    const stream = this.#streams.get(key) ?? new SharedStream({ proof, tenant }, this.#follow);
    this.#streams.set(key, stream);
    return stream;
  }

  #forget(port: TabPort): void {
    this.#tabs.get(port)?.stream.tabs.delete(port);
    this.#tabs.delete(port);
  }

  #forgetSilentTabs(): void {
    const earliest = this.#now() - SILENT_TAB_MS;
    for (const [port, { heardAt }] of this.#tabs) {
      if (heardAt < earliest) this.#forget(port);
    }
  }

  #assignConnections(): void {
    for (const [key, stream] of this.#streams) {
      if (stream.tabs.size > 0) continue;
      stream.close();
      this.#streams.delete(key);
    }
    const ranked = [...this.#streams.values()].sort((one, other) => this.#rankOf(other) - this.#rankOf(one));
    // First close streams, to free connections.
    for (const stream of ranked.slice(MAX_STREAMS)) stream.close();
    for (const stream of ranked.slice(0, MAX_STREAMS)) stream.open();
  }

  /** A visible tab ranks above every hidden one. */
  #rankOf(stream: SharedStream): number {
    const ranks = [...stream.tabs].map((port) => {
      const tab = this.#tabs.get(port);
      return tab === undefined ? 0 : tab.shownAt + (tab.isVisible ? VISIBLE_RANK : 0);
    });
    return Math.max(0, ...ranks);
  }
}
