import { parentPort } from 'node:worker_threads';
import { messageOf, StorageUnavailable } from '../core/failures.ts';
import type { ThreadMessage, ThreadReply } from './request-thread.ts';

export interface RequestHandlers<Request> {
  readonly handle: (request: Request) => unknown;
  /** Releases what would keep the thread alive. */
  readonly close: () => void;
}

/** Handles the requests of a `RequestThread`. Call it in its thread. */
export function handleRequests<Request>({ handle, close }: RequestHandlers<Request>): void {
  const port = parentPort;
  if (port === null) throw new Error('handleRequests runs in a thread');

  async function reply(number: number, request: Request): Promise<ThreadReply> {
    try {
      return { number, value: await handle(request) };
    } catch (error) {
      const why = error instanceof StorageUnavailable ? { why: error.why } : {};
      return { number, problem: messageOf(error), ...why };
    }
  }

  port.on('message', (message: ThreadMessage<Request>) => {
    if (message === 'close') {
      close();
      port.close();
      return;
    }
    reply(message.number, message.request).then(
      (sent) => port.postMessage(sent),
      () => {}, // `reply` does not reject.
    );
  });
}
