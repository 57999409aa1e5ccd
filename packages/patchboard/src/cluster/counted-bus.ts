import type { Bus, NotificationHandler } from './bus.ts';
import type { Notification } from './notification.ts';

/** Counts the notifications of a bus by their kind. */
export class CountedBus implements Bus {
  readonly sent: Map<string, number> = new Map();
  readonly received: Map<string, number> = new Map();
  readonly #bus: Bus;

  constructor(bus: Bus) {
    this.#bus = bus;
  }

  get isConnected(): boolean {
    return this.#bus.isConnected;
  }

  get connections(): number {
    return this.#bus.connections;
  }

  send(to: number | 'all', notification: Notification): void {
    count(this.sent, notification.kind);
    this.#bus.send(to, notification);
  }

  listen(handle: NotificationHandler): () => void {
    return this.#bus.listen((notification, from) => {
      count(this.received, notification.kind);
      handle(notification, from);
    });
  }

  close(): Promise<void> {
    return this.#bus.close();
  }
}

function count(counts: Map<string, number>, kind: string): void {
  counts.set(kind, (counts.get(kind) ?? 0) + 1);
}
