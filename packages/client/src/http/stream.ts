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
  /** Where to go on after the last id seen; null before the first. */
  path(lastId: string | null): string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly after: string | null;
  onConnection?(state: ConnectionState): void;
  /** Asked when a stream ended or broke off: is there nothing more to come? */
  isOver?(bounds: Bounds): Promise<boolean>;
}

/** Frames of one logical stream, over as many connections as it takes, each frame once. */
export async function* resumingFrames(
  settings: Settings,
  source: StreamSource,
  bounds: Bounds,
): AsyncGenerator<SseFrame, void, undefined> {
  let last = source.after;
  let over = false;
  // A server that was never there is a mistake to report soon; one that went away is expected back.
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
          // Where the server stands, which is further back if it began anew since.
          last = resumedAfter = part.id ?? last;
          continue;
        }
        if (isRepeat(part.id, resumedAfter)) continue;
        last = part.id ?? last;
        yield part;
      }
      failure = new NetworkError(`${settings.url} ended the stream`);
      // Whatever came before the end was in the connection that is now drained.
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

/** Sequences only grow, so what is not beyond the point of resumption was seen before. */
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
