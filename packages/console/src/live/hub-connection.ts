import type { HubMessage, Subscription } from './hub-messages.ts';
import { ownPort, sharedPort, type HubPort, type PortHandlers } from './hub-port.ts';

/** How often the tab asks the hub for a status; without a reply by the next time the hub is gone. */
const HEARTBEAT_MS = 5000;

export interface HubHandlers {
  readonly onMessage: (message: HubMessage) => void;
  /** No stream serves this tab any more: it is hidden or follows none, or the hub is gone. */
  readonly onLeft: (why: 'hidden' | 'gone') => void;
}

/** Opens a channel to the hub; null where there are no shared workers. */
export type OpenPort = (handlers: PortHandlers) => HubPort | null;

/**
 * The tab's connection to the hub. It is closed between `pagehide` and `pageshow`, so that pages in the
 * back/forward cache hold no connection; without a shared worker a hidden tab has none either.
 */
export class HubConnection {
  readonly #handlers: HubHandlers;
  readonly #openShared: OpenPort;
  #subscription: Subscription | null = null;
  #port: HubPort | null = null;
  #isShowing = true;
  #isWorkerUsable = true;
  #awaitsReply = false;
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(handlers: HubHandlers, openShared: OpenPort = sharedPort) {
    this.#handlers = handlers;
    this.#openShared = openShared;
  }

  /** Starts to follow the page's visibility events. */
  start(): void {
    addEventListener('pagehide', () => {
      // The change of visibility that follows must not join again.
      this.#isShowing = false;
      this.#leave('hidden');
    });
    addEventListener('pageshow', () => {
      this.#isShowing = true;
      this.#join();
    });
    document.addEventListener('visibilitychange', () => this.#shownOrHidden());
  }

  /** Null: the page may follow no events. */
  follow(subscription: Subscription | null): void {
    this.#subscription = subscription;
    if (subscription === null) this.#leave('hidden');
    else this.#join();
  }

  #join(): void {
    if (this.#subscription === null || !this.#isShowing) return;
    this.#port ??= this.#open();
    if (!this.#port.isShared && isHidden()) {
      this.#leave('hidden');
      return;
    }
    this.#timer ??= setInterval(() => this.#beat(), HEARTBEAT_MS);
    this.#port.send({ kind: 'follow', ...this.#subscription, isVisible: !isHidden() });
  }

  #open(): HubPort {
    const handlers: PortHandlers = {
      onMessage: (message) => {
        this.#awaitsReply = false;
        this.#handlers.onMessage(message);
      },
      onError: () => {
        this.#isWorkerUsable = false;
        this.#leave('gone');
        this.#join();
      },
    };
    return (this.#isWorkerUsable ? this.#openShared(handlers) : null) ?? ownPort(handlers);
  }

  #beat(): void {
    // The worker has terminated: a new port starts a new one.
    if (this.#awaitsReply) this.#leave('gone');
    this.#awaitsReply = true;
    this.#join();
  }

  #shownOrHidden(): void {
    if (this.#port?.isShared === false && isHidden()) this.#leave('hidden');
    else this.#join();
  }

  #leave(why: 'hidden' | 'gone'): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#awaitsReply = false;
    if (this.#port === null) return;
    this.#port.send({ kind: 'leave' });
    this.#port.close();
    this.#port = null;
    this.#handlers.onLeft(why);
  }
}

function isHidden(): boolean {
  return document.visibilityState === 'hidden';
}
