import type { Peers } from './peers.ts';

/** Messages between the same services of several nodes. They may be lost, so nothing that must happen depends on one. */
export class Signals {
  readonly #peers: Pick<Peers, 'signal' | 'onSignal'>;
  readonly #listeners: Map<string, Set<(body: unknown) => void>> = new Map();

  constructor(peers: Pick<Peers, 'signal' | 'onSignal'>) {
    this.#peers = peers;
    peers.onSignal((topic, body) => this.#listeners.get(topic)?.forEach((take) => take(body)));
  }

  /** To the other nodes only. `body`: a JSON value. */
  send(topic: string, body: unknown): void {
    this.#peers.signal(topic, body);
  }

  on(topic: string, take: (body: unknown) => void): void {
    const listeners = this.#listeners.get(topic) ?? new Set();
    this.#listeners.set(topic, listeners.add(take));
  }
}
