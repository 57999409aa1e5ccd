import type { Notification } from './notification.ts';

/** Receives a notification and the writer that sent it. */
export type NotificationHandler = (notification: Notification, from: number) => void;

/**
 * Small messages between the nodes of one store: delivered at most once, in any order. The store is the truth; a lost
 * notification only delays what a node finds out by itself. No member throws because the bus is disconnected.
 */
export interface Bus {
  /** Sends to one writer, or to all other nodes. A node does not receive what it sends itself. */
  send(to: number | 'all', notification: Notification): void;
  /** Calls `handle` with each notification. The returned function ends the subscription. */
  listen(handle: NotificationHandler): () => void;
  /** False: notifications are lost now, so that a node has to ask the store more often. */
  readonly isConnected: boolean;
  /** How many connections there have been: what was sent to this node between two of them is lost. */
  readonly connections: number;
  close(): Promise<void>;
}
