import { sseDecoder, type SseFrame } from '@patchboard/wire';
import type { Bounds } from './abort.ts';
import { readBody, type BodyRequest } from './body.ts';
import { Undecodable, type Decoder } from '../decode/decode.ts';
import { NetworkError, PatchboardError } from '../errors.ts';
import type { Settings } from './options.ts';
import { parseJson } from './problem.ts';
import { retrier } from './retry.ts';

export type ConnectionState = 'open' | 'lost';

export interface StreamSource {
  /** Returns the path that continues after the last received id; null before the first event. */
  path(lastId: string | null): string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly after: string | null;
  onConnection?(state: ConnectionState): void;
  /** Called when a connection ended or failed. Returns true if no more events will follow. */
  isOver?(bounds: Bounds): Promise<boolean>;
}

/** Yields each frame of one logical stream once, reconnecting as needed. */
export async function* resumingFrames(
  settings: Settings,
  source: StreamSource,
  bounds: Bounds,
): AsyncGenerator<SseFrame, void, undefined> {
  let last = source.after;
  let over = false;
  // Fail early if the server was never reachable; retry for longer once a connection was open.
  let retry = retrier(settings, bounds, 'brief');
  let opened = false;
  for (;;) {
    let resumedAfter = last;
    let failure: unknown;
    try {
      const path = source.path(last);
      for await (const part of oneConnection(settings, path, source.headers, bounds)) {
        if (part === 'open') {
          if (!opened) retry = retrier(settings, bounds, 'patient');
          opened = true;
          retry.reached();
          source.onConnection?.('open');
          continue;
        }
        retry.reset();
        if (part.data === null) {
          // The server's current position, which is lower if the server started with a new store.
          last = resumedAfter = part.id ?? last;
          continue;
        }
        if (isRepeat(part.id, resumedAfter)) continue;
        last = part.id ?? last;
        yield part;
      }
      failure = new NetworkError(`${settings.url} ended the stream`);
      // `over` was set before this connection, so it delivered all remaining events.
      if (over) return;
    } catch (error) {
      failure = error;
    }
    source.onConnection?.('lost');
    await retry.pause(failure, 'safe');
    over ||= (await source.isOver?.(bounds)) ?? false;
  }
}

export function decodeFrame<T>(frame: SseFrame, decode: Decoder<T>): T {
  const data = parseJson(frame.data ?? '');
  try {
    if (data !== undefined) return decode(data.value, '');
  } catch (error) {
    if (!(error instanceof Undecodable)) throw error;
    throw unreadable(frame, error.message);
  }
  throw unreadable(frame, 'it is not JSON');
}

function unreadable(frame: SseFrame, why: string): PatchboardError {
  return new PatchboardError('bad_response', `event "${frame.event}" is not understood: ${why}`, {
    code: 'bad_response',
  });
}

/** Ids only grow, so an event up to the position of the resume was received before. */
function isRepeat(id: string | null, resumedAfter: string | null): boolean {
  if (id === null || resumedAfter === null) return false;
  const [seen, now] = [Number(resumedAfter), Number(id)];
  return Number.isFinite(seen) && Number.isFinite(now) ? now <= seen : id === resumedAfter;
}

async function* oneConnection(
  settings: Settings,
  path: string,
  headers: StreamSource['headers'],
  bounds: Bounds,
): AsyncGenerator<'open' | SseFrame, void, undefined> {
  const wanted: BodyRequest = {
    path,
    ...(headers === undefined ? {} : { headers }),
    contentType: 'text/event-stream',
    name: 'event stream',
    mustStream: true,
  };
  const decode = sseDecoder();
  for await (const piece of readBody(settings, wanted, bounds)) {
    if (typeof piece === 'string') yield* decode(piece);
    else yield 'open';
  }
}
