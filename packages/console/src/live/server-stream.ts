import { PatchboardError, type ConnectionState } from '@patchboard/client';
import type { StreamEvent } from '@patchboard/wire';
import { clientFor } from '../data/server-client.ts';
import type { StreamProblem, Subscription } from './hub-messages.ts';

const RETRY_MS = 3000;

export interface StreamHandlers {
  readonly onEvent: (event: StreamEvent) => void;
  readonly onConnection: (state: ConnectionState) => void;
  readonly onProblem: (problem: StreamProblem) => void;
}

export type FollowServer = (
  subscription: Subscription,
  handlers: StreamHandlers,
  signal: AbortSignal,
) => Promise<void>;

/** An event stream that reconnects until the signal aborts. Delivers each event once, in order. */
export const followServer: FollowServer = async (subscription, handlers, signal) => {
  const client = clientFor(subscription);
  const { onEvent, onConnection, onProblem } = handlers;
  let after: string | undefined;
  while (!signal.aborted) {
    try {
      for await (const event of client.events({ signal, onConnection, after })) {
        after = event.id ?? after;
        onEvent(event);
      }
    } catch (error) {
      if (signal.aborted) return;
      onProblem(problemOf(error));
    }
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
};

function problemOf(error: unknown): StreamProblem {
  if (error instanceof PatchboardError) {
    const { code, message, reasons } = error;
    return { code, message, reasons };
  }
  return { code: 'network_error', message: error instanceof Error ? error.message : String(error) };
}
