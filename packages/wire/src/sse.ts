/** Encoder and incremental decoder of server-sent events. A chunk may end anywhere. */

export interface SseFrame {
  readonly id: string | null;
  readonly event: string;
  /** Null: the block carries only an id, the current position of the stream. */
  readonly data: string | null;
}

/** Encodes the current position, so that a reader disconnected before the first event can still resume. */
export function encodeSsePosition(id: number | string): string {
  return `id: ${id}\n\n`;
}

export function encodeSse(frame: { id?: number | string; event: string; data: string }): string {
  const id = frame.id === undefined ? '' : `id: ${frame.id}\n`;
  // JSON has no raw line breaks, but other text may.
  const data = frame.data.includes('\n') ? frame.data.replaceAll('\n', '\ndata: ') : frame.data;
  return `${id}event: ${frame.event}\ndata: ${data}\n\n`;
}

/** Returns a function that takes the next chunk and returns the frames completed by it. */
export function sseDecoder(): (chunk: string) => SseFrame[] {
  let rest = '';
  let id: string | null = null;
  let event = '';
  let data: string[] = [];

  function takeLine(line: string): SseFrame | null {
    if (line === '') {
      const isEmpty = data.length === 0;
      const frame =
        isEmpty && id === null
          ? null
          : { id, event: event === '' ? 'message' : event, data: isEmpty ? null : data.join('\n') };
      id = null;
      event = '';
      data = [];
      return frame;
    }
    const colon = line.indexOf(':');
    if (colon === 0) return null; // a comment keeps the connection alive
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
    if (field === 'id') id = value;
    else if (field === 'event') event = value;
    else if (field === 'data') data.push(value);
    return null;
  }

  return (chunk) => {
    rest += chunk;
    const frames: SseFrame[] = [];
    let start = 0;
    for (;;) {
      const end = rest.indexOf('\n', start);
      if (end === -1) break;
      const line = rest.slice(start, rest[end - 1] === '\r' && end > start ? end - 1 : end);
      const frame = takeLine(line);
      if (frame !== null) frames.push(frame);
      start = end + 1;
    }
    rest = rest.slice(start);
    return frames;
  };
}
