import {
  isCallState,
  isTerminal,
  type CallProgressEvent,
  type CallStateEvent,
  type SseFrame,
  type StreamEvent,
} from '@patchboard/wire';
import type { Bounds } from '../http/abort.ts';
import { isEnded } from './calls.ts';
import { anything, isRecord } from '../decode/decode.ts';
import { decodeCall } from '../decode/views.ts';
import { PatchboardError } from '../errors.ts';
import { requestOnce, withQuery, type RequestOptions } from '../http/http.ts';
import type { Settings } from '../http/options.ts';
import { stoppable } from '../http/stoppable.ts';
import { decodeFrame, resumingFrames, type ConnectionState, type StreamSource } from '../http/stream.ts';

export type { ConnectionState } from '../http/stream.ts';

export interface EventOptions extends RequestOptions {
  /** One call's story, from its beginning; the iterator ends with it. Default: every event this agent may see. */
  readonly callId?: string;
  /** Start after this `id`. Default: the beginning for one call, now for all of them. */
  readonly after?: string | number;
  /** Told when the stream is up, and when it was lost; between the two it is being opened anew. */
  readonly onConnection?: (state: ConnectionState) => void;
}

/** Each event once, in order. Progress has no `id` and is not replayed: what passes during a reconnect is gone. */
export function events(settings: Settings, options: EventOptions): AsyncIterableIterator<StreamEvent> {
  const { callId } = options;
  return stoppable(options.signal, (bounds) =>
    callId === undefined
      ? allEvents(settings, afterOf(options, null), options, bounds)
      : callEvents(settings, callId, { ...options, after: afterOf(options, '0') ?? '0' }, bounds),
  );
}

export function isCallStateEvent(
  event: StreamEvent,
): event is StreamEvent & { readonly data: CallStateEvent } {
  return event.type === 'call.state' && isRecord(event.data) && isCallState(event.data['state']);
}

export function isCallProgressEvent(
  event: StreamEvent,
): event is StreamEvent & { readonly data: CallProgressEvent } {
  return event.type === 'call.progress' && isRecord(event.data);
}

async function* allEvents(
  settings: Settings,
  after: string | null,
  { onConnection }: EventOptions,
  bounds: Bounds,
): AsyncGenerator<StreamEvent, void, undefined> {
  const path = (last: string | null): string => withQuery('/v1/events', { after: last });
  const source: StreamSource = { after, path, ...(onConnection === undefined ? {} : { onConnection }) };
  for await (const frame of resumingFrames(settings, source, bounds)) yield eventOf(frame);
}

async function* callEvents(
  settings: Settings,
  callId: string,
  { after, onConnection }: EventOptions,
  bounds: Bounds,
): AsyncGenerator<StreamEvent, void, undefined> {
  const path = `/v1/tool_calls/${encodeURIComponent(callId)}`;
  const source: StreamSource = {
    after: String(after),
    ...(onConnection === undefined ? {} : { onConnection }),
    path: (last) => withQuery(`${path}/events`, { after: last }),
    // For a reader who starts after the last event: the stream alone would never tell that it is over.
    isOver: (now) => hasEnded(settings, path, now),
  };
  for await (const frame of resumingFrames(settings, source, bounds)) {
    const event = eventOf(frame);
    yield event;
    if (isCallStateEvent(event) && isTerminal(event.data.state)) return;
  }
}

async function hasEnded(settings: Settings, path: string, bounds: Bounds): Promise<boolean> {
  try {
    return isEnded(await requestOnce(settings, { method: 'GET', path, repeat: 'safe' }, decodeCall, bounds));
  } catch (error) {
    // Out of reach: the stream's own retries go on and decide.
    if (error instanceof PatchboardError && error.retryable) return false;
    throw error;
  }
}

function eventOf(frame: SseFrame): StreamEvent {
  return { id: frame.id, type: frame.event, data: decodeFrame(frame, anything) };
}

function afterOf(options: EventOptions, otherwise: string | null): string | null {
  return options.after === undefined ? otherwise : String(options.after);
}
