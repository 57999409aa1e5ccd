import type { Call } from '../call/call.ts';
import type { Lifecycle } from '../call/lifecycle.ts';
import type { InProcessCaller } from '../call/live-call.ts';
import type { EventFeed } from '../ledger/events.ts';
import type { TransientEvent } from '../peers.ts';
import type { Clock } from '../ports.ts';

export interface ReportsElsewhereParts {
  readonly feed: Pick<EventFeed, 'listenElsewhere' | 'listenToCall'>;
  readonly lifecycle: Pick<Lifecycle, 'find'>;
  readonly clock: Pick<Clock, 'now'>;
}

/**
 * Passes what a call reports while another node runs it to the caller, which waits at this node. The returned function ends
 * that.
 */
export function followElsewhere(
  { feed, lifecycle, clock }: ReportsElsewhereParts,
  call: Call,
  caller: InProcessCaller,
): () => void {
  const stops = [
    feed.listenElsewhere(call, (event) => report(call, caller, event, clock.now())),
    feed.listenToCall(call.id, (event) => {
      const isHere = lifecycle.find(call.id)?.caller === caller;
      if (event.type === 'input_required' && event.call !== null && !isHere)
        caller.onInputRequired?.(event.call);
    }),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}

function report(
  { id, toolName, runId }: Call,
  caller: InProcessCaller,
  { type, data }: TransientEvent,
  at: number,
): void {
  // Written by the feed of another node.
  const body = data as { readonly data: unknown; readonly event_type?: string };
  if (type === 'call.progress') caller.onProgress?.(body.data);
  else
    caller.onCustomEvent?.({
      callId: id,
      toolName,
      runId,
      eventType: body.event_type ?? '',
      data: body.data,
      at,
    });
}
