import { LineSplitter } from './line-splitter.mjs';

const MAX_RESPONSE_BYTES = 64 * 1024 * 1024;

export function isEventStream(response) {
  return (response.headers.get('content-type') ?? '').includes('text/event-stream');
}

/** Yields the data of each event of a stream. */
export async function* eventsOf(body) {
  const lines = new LineSplitter(MAX_RESPONSE_BYTES);
  let data = [];
  for await (const chunk of body) {
    for (const { text, overlong } of lines.push(Buffer.from(chunk))) {
      if (overlong) throw new Error(`an event is larger than ${MAX_RESPONSE_BYTES} bytes`);
      if (text.startsWith('data:')) data.push(text.slice(text[5] === ' ' ? 6 : 5));
      else if (text === '' && data.length > 0) {
        yield data.join('\n');
        data = [];
      }
    }
  }
}

/** Reads the whole body. */
export async function textOf(response) {
  const parts = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > MAX_RESPONSE_BYTES)
      throw new Error(`the response is larger than ${MAX_RESPONSE_BYTES} bytes`);
    parts.push(Buffer.from(chunk));
  }
  return Buffer.concat(parts).toString('utf8');
}
