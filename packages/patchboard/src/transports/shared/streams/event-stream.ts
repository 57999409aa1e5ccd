import { encodeSse, encodeSsePosition, isCallState, isTerminal } from '@patchboard/wire';
import type { FastifyReply } from 'fastify';
import { isOpen, type Call } from '../../../core/call/call.ts';
import type { BoardEvent, EventFilter } from '../../../core/ledger/events.ts';
import { messageOf } from '../../../core/failures.ts';
import type { Principal } from '../../../core/access/principal.ts';
import type { HttpContext } from '../http/context.ts';
import { principalOf } from '../routes/caller.ts';
import { sendProblem } from '../routes/problem.ts';
import type { RequestWith, Schema } from '../routes/routes.ts';
import { headers, optional, SEQUENCE, TEXT } from '../routes/schemas.ts';

/** Query parameters of an event stream. */
export interface EventsQuery {
  readonly after?: string;
}

export const EVENTS_QUERY: Schema<EventsQuery> = optional({
  after: {
    ...SEQUENCE,
    description: 'start after the event with this `id`; with a future `id`, start now',
  },
});
export const EVENTS_HEADERS: Schema = headers({
  'last-event-id': {
    ...SEQUENCE,
    description: 'same as `after`, and wins over it: a browser that reconnects sends both',
  },
});
export const EVENT_TEXT: Schema = {
  ...TEXT,
  description: '`id:`, `event:` and `data:` lines; `data` is JSON',
};

/**
 * Returns the sequence number after which the client resumes; null if it names none. A number beyond the ledger's head comes
 * from another ledger (a new data folder, a restored copy): such a client would wait forever, so it resumes at the head.
 */
export async function resumePoint(
  context: HttpContext,
  request: RequestWith<{ query: EventsQuery }>,
): Promise<number | null> {
  const given = request.headers['last-event-id'] ?? request.query.after;
  if (typeof given !== 'string') return null;
  return Math.min(Number(given), (await context.store.ledgerHead()).seq);
}

/**
 * Streams every matching event after `after` exactly once, until the client disconnects or `end` applies. Refuses a stream
 * beyond the limits.
 */
export function streamEvents(
  context: HttpContext,
  reply: FastifyReply,
  given: { filter: EventFilter; after: number; end: 'never' | 'with the call' | 'when caught up' },
): void {
  const { filter, after, end } = given;
  const principal = principalOf(reply.request);
  const refused = context.eventStreams.refusal(principal);
  if (refused !== null) {
    sendProblem(reply, refused);
    return;
  }
  const stream = context.streams.open(reply, principal);
  context.eventStreams.add(stream, principal);
  stream.write(encodeSsePosition(after));
  let last = after;
  const stop = context.engine.feed.follow(filter, after, {
    next: (event) => {
      // A live event may repeat a row that was already read from the store.
      if (event.seq === null || event.seq > last) stream.write(frameOf(event));
      if (event.seq !== null && event.seq > last) last = event.seq;
      if (end === 'with the call' && isEnding(event)) stream.end();
    },
    ready: () => stream.drained(),
    caughtUp: () => {
      if (end === 'when caught up') stream.end();
    },
    failed: (error) => {
      context.log.error('http.stream_failed', { error: messageOf(error) });
      stream.end();
    },
  });
  stream.onClose(stop);
}

/** Streams the events of one call after `after`, until the call ends. */
export function streamCall(
  context: HttpContext,
  reply: FastifyReply,
  given: { principal: Principal; call: Call; after: number },
): void {
  const { principal, call, after } = given;
  // For an ended call no live event would close the stream.
  const end = isOpen(call) ? 'with the call' : 'when caught up';
  streamEvents(context, reply, { filter: { principal, callId: call.id }, after, end });
}

/** Encodes each live event once: all streams share the text, also in their buffers. */
const frames: WeakMap<BoardEvent, string> = new WeakMap();

function frameOf(event: BoardEvent): string {
  const { seq, type, data } = event;
  const known = frames.get(event);
  if (known !== undefined) return known;
  const frame = { event: type, data: JSON.stringify(data) };
  const text = encodeSse(seq === null ? frame : { ...frame, id: seq });
  frames.set(event, text);
  return text;
}

function isEnding({ type, data }: BoardEvent): boolean {
  if (type !== 'call.state') return false;
  const state = (data as { state?: unknown }).state;
  return isCallState(state) && isTerminal(state);
}
