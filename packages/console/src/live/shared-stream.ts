import type { HubMessage, LiveState, StreamProblem, Subscription } from './hub-messages.ts';
import type { FollowServer, StreamHandlers } from './server-stream.ts';

/** The hub's end of the channel to one tab. */
export interface TabPort {
  send(message: HubMessage): void;
}

/** The event stream of one subscription, and the tabs that share it. */
export class SharedStream {
  readonly tabs: Set<TabPort> = new Set();
  readonly #subscription: Subscription;
  readonly #follow: FollowServer;
  #stop: AbortController | null = null;
  #state: LiveState = 'paused';
  #problem: StreamProblem | null = null;

  constructor(subscription: Subscription, follow: FollowServer) {
    this.#subscription = subscription;
    this.#follow = follow;
  }

  open(): void {
    if (this.#stop !== null) return;
    const stop = new AbortController();
    this.#stop = stop;
    this.#become('connecting', null);
    const handlers: StreamHandlers = {
      onEvent: (event) => {
        if (stop.signal.aborted) return;
        for (const tab of this.tabs) tab.send({ kind: 'event', event });
      },
      onConnection: (connection) => {
        if (stop.signal.aborted) return;
        if (connection === 'open') this.#become('live', null);
        else this.#become('lost', this.#problem);
      },
      onProblem: (problem) => {
        if (!stop.signal.aborted) this.#become('lost', problem);
      },
    };
    this.#follow(this.#subscription, handlers, stop.signal).catch((error: unknown) => {
      handlers.onProblem({ code: 'network_error', message: String(error) });
    });
  }

  /** Closes the connection. */
  close(): void {
    if (this.#stop === null) return;
    this.#stop.abort();
    this.#stop = null;
    this.#become('paused', null);
  }

  /** Sends the stream's status to a tab. */
  report(tab: TabPort, isNew: boolean): void {
    tab.send({ kind: 'status', state: this.#state, problem: this.#problem, isNew });
  }

  #become(state: LiveState, problem: StreamProblem | null): void {
    this.#state = state;
    this.#problem = problem;
    for (const tab of this.tabs) this.report(tab, false);
  }
}
