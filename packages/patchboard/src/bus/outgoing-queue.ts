import { encodeNotification, type Notification } from '../cluster/notification.ts';

export interface OutgoingNotification {
  readonly to: number | 'all';
  readonly text: string;
}

/** More than a busy node sends while a server restarts. */
const MOST_QUEUED = 10_000;

/** Encoded notifications that wait for the connection. A full queue drops its oldest: other nodes ask the store themselves. */
export class OutgoingQueue {
  readonly #writer: number;
  readonly #most: number;
  #queued: OutgoingNotification[] = [];
  #dropped = 0;

  constructor(writer: number, most: number = MOST_QUEUED) {
    this.#writer = writer;
    this.#most = most;
  }

  get size(): number {
    return this.#queued.length;
  }

  add(to: number | 'all', notification: Notification): void {
    if (to === this.#writer) return;
    for (const text of encodeNotification(this.#writer, notification)) this.#queued.push({ to, text });
    // Removed in large steps: removing one moves all others.
    if (this.#queued.length >= this.#most * 2) this.#trim();
  }

  /** Returns and removes what is queued, oldest first. */
  take(): readonly OutgoingNotification[] {
    this.#trim();
    const taken = this.#queued;
    this.#queued = [];
    return taken;
  }

  /** Returns the number of dropped notifications since the last call. */
  takeDropped(): number {
    this.#trim();
    const dropped = this.#dropped;
    this.#dropped = 0;
    return dropped;
  }

  #trim(): void {
    const excess = this.#queued.length - this.#most;
    if (excess <= 0) return;
    this.#queued.splice(0, excess);
    this.#dropped += excess;
  }
}
