import type { NotificationHandler } from '../cluster/bus.ts';
import { decodeNotification, type Notification } from '../cluster/notification.ts';
import { messageOf } from '../core/failures.ts';
import type { Log } from '../core/ports.ts';

/** Passes what arrives on a bus to the listeners of its node. */
export class NotificationReceiver {
  readonly #writer: number;
  readonly #log: Log;
  readonly #handlers: Set<NotificationHandler> = new Set();
  #hasReportedInvalid = false;

  constructor(writer: number, log: Log) {
    this.#writer = writer;
    this.#log = log;
  }

  listen(handle: NotificationHandler): () => void {
    const own: NotificationHandler = (notification, from) => handle(notification, from);
    this.#handlers.add(own);
    return () => void this.#handlers.delete(own);
  }

  /** Reports the first invalid text only: another program may fill the log otherwise. */
  receive(text: string): void {
    const decoded = decodeNotification(text);
    switch (decoded.is) {
      case 'valid':
        if (decoded.from !== this.#writer) this.#pass(decoded.notification, decoded.from);
        return;
      case 'ignored':
        return;
      case 'invalid':
        if (!this.#hasReportedInvalid)
          this.#log.warn('bus.invalid_notification', { message: decoded.problem });
        this.#hasReportedInvalid = true;
        return;
    }
  }

  /** A listener that throws must not end the connection that the text came from. */
  #pass(notification: Notification, from: number): void {
    for (const handle of this.#handlers) {
      try {
        handle(notification, from);
      } catch (error) {
        this.#log.error('bus.listener_failed', { kind: notification.kind, message: messageOf(error) });
      }
    }
  }
}
