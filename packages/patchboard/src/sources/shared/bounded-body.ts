import { BodyTooLarge } from './fetch-errors.ts';

const LF = 10;
const CR = 13;

/**
 * Returns the response with a body that fails with `BodyTooLarge` when it exceeds `maxBytes`, and then closes the connection. The limit
 * counts decompressed bytes. In an event stream it holds for each event, so that the stream may last.
 */
export function withBoundedBody(response: Response, url: string, maxBytes: number): Response {
  const { body, status, statusText, headers } = response;
  const isStream = /^text\/event-stream\b/i.test(headers.get('content-type') ?? '');
  const counter = isStream ? new EventBytes() : new BodyBytes();
  const bounded = body?.pipeThrough<Uint8Array>(
    new TransformStream<Uint8Array, Uint8Array>({
      transform: (chunk, controller) => {
        if (counter.largestAfter(chunk) > maxBytes)
          throw new BodyTooLarge(isStream ? 'event' : 'response', maxBytes);
        controller.enqueue(chunk);
      },
    }),
  );
  const copy = new Response(bounded ?? null, { status, statusText, headers });
  // A response that a program makes has no URL.
  return Object.defineProperty(copy, 'url', { value: url });
}

class BodyBytes {
  #bytes = 0;

  largestAfter(chunk: Uint8Array): number {
    this.#bytes += chunk.length;
    return this.#bytes;
  }
}

/** Counts the bytes since the last blank line. A line ends with CR, LF, or both. */
class EventBytes {
  #bytes = 0;
  #isLineEmpty = true;
  #isAfterCr = false;

  /** Returns the size of the largest event that the chunk ends or continues. */
  largestAfter(chunk: Uint8Array): number {
    let largest = 0;
    for (const byte of chunk) {
      this.#bytes += 1;
      if (this.#bytes > largest) largest = this.#bytes;
      if (byte === LF && this.#isAfterCr) {
        this.#isAfterCr = false;
      } else if (byte === LF || byte === CR) {
        if (this.#isLineEmpty) this.#bytes = 0;
        this.#isLineEmpty = true;
        this.#isAfterCr = byte === CR;
      } else {
        this.#isLineEmpty = false;
        this.#isAfterCr = false;
      }
    }
    return largest;
  }
}
