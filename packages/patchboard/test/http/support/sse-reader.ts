import { sseDecoder } from '@patchboard/wire';

/** A frame that carries an event. */
export interface EventFrame {
  readonly id: string | null;
  readonly event: string;
  readonly data: string;
}

/** Reads a stream frame by frame. */
export interface SseReader {
  readonly status: number;
  readonly headers: Headers;
  /** The next frame; null at the end. */
  next(): Promise<EventFrame | null>;
  /** Everything up to the end. */
  rest(): Promise<EventFrame[]>;
  /** The position that the stream sent before any event. */
  position(): string | null;
  close(): void;
}

/** `body`: sent as JSON by POST. */
export async function openSse(
  url: string,
  headers: Record<string, string> = {},
  body?: unknown,
): Promise<SseReader> {
  const stop = new AbortController();
  const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
  const response = await fetch(url, { headers, signal: stop.signal, ...sent });
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  const decode = sseDecoder();
  const ready: EventFrame[] = [];
  let position: string | null = null;
  const next = async (): Promise<EventFrame | null> => {
    while (ready.length === 0) {
      const { done, value } = await reader.read();
      if (done) return null;
      for (const { id, event, data } of decode(value)) {
        if (data === null) position = id;
        else ready.push({ id, event, data });
      }
    }
    return ready.shift()!;
  };
  return {
    status: response.status,
    headers: response.headers,
    next,
    rest: async () => {
      const frames: EventFrame[] = [];
      for (let frame = await next(); frame !== null; frame = await next()) frames.push(frame);
      return frames;
    },
    position: () => position,
    close: () => stop.abort(),
  };
}
