import {
  isCallState,
  isTerminal,
  type CallProgressEvent,
  type CallStateEvent,
  type InputGivenEvent,
  type InputRequiredEvent,
  type SseFrame,
  type StreamEvent,
} from '@patchboard/wire';
import type { Bounds } from '../http/abort.ts';
import { callPath, isEnded, lookup } from './call-record.ts';
import { anything, isRecord } from '../decode/decode.ts';
import { decodeCall } from '../decode/views.ts';
import { PatchboardError } from '../errors.ts';
import { requestOnce, withQuery, type RequestOptions } from '../http/http.ts';
import type { Settings } from '../http/options.ts';
import { stoppable } from '../http/stoppable.ts';
import { decodeFrame, resumingFrames, type ConnectionState, type StreamSource } from '../http/stream.ts';

export type { ConnectionState } from '../http/stream.ts';

export interface EventOptions extends RequestOptions {
  /** Only events of this call, from its first; the iterator ends with the call. Default: all events visible to this agent. */
  readonly callId?: string;
  /** Start after this event `id`. Default: the first event of one call, or only new events for all calls. */
  readonly after?: string | number;
  /** Called when the stream is open, and when the connection is lost. After `lost` the client reconnects. */
  readonly onConnection?: (state: ConnectionState) => void;
}

/** Yields each event once, in order. Progress events have no `id` and are not replayed after a reconnect. */
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

export function isInputRequiredEvent(
  event: StreamEvent,
): event is StreamEvent & { readonly data: InputRequiredEvent } {
  return event.type === 'input_required' && isRecord(event.data);
}

export function isInputGivenEvent(
  event: StreamEvent,
): event is StreamEvent & { readonly data: InputGivenEvent } {
  return event.type === 'input_given' && isRecord(event.data);
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
  const source: StreamSource = {
    after: String(after),
    ...(onConnection === undefined ? {} : { onConnection }),
    path: (last) => withQuery(`${callPath(callId)}/events`, { after: last }),
    // A reader that starts after the last event would never receive an end on the stream itself.
    isOver: (now) => hasEnded(settings, callId, now),
  };
  for await (const frame of resumingFrames(settings, source, bounds)) {
    const event = eventOf(frame);
    yield event;
    if (isCallStateEvent(event) && isTerminal(event.data.state)) return;
  }
}

async function hasEnded(settings: Settings, callId: string, bounds: Bounds): Promise<boolean> {
  try {
    return isEnded(await requestOnce(settings, lookup(callId), decodeCall, bounds));
  } catch (error) {
    // The server is unreachable: the stream's own retries decide.
    if (error instanceof PatchboardError && error.retryable) return false;
    throw error;
  }
}

function eventOf(frame: SseFrame): StreamEvent {
  return { id: frame.id, type: frame.event, data: decodeFrame(frame, anything) };
}

function afterOf(options: EventOptions, fallback: string | null): string | null {
  return options.after === undefined ? fallback : String(options.after);
}
