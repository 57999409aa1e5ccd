/** State of a parser of server-sent events. Immutable; reads only the `data` field. */
export interface EventLines {
  /** The current line so far. */
  readonly line: string;
  /** The data of the current event; null: none yet. */
  readonly data: string | null;
  /** The offset of the next character in the reply. */
  readonly offset: number;
  /** The offset of the current event. */
  readonly eventOffset: number;
}

export interface EventData {
  readonly data: string;
  readonly offset: number;
}

export const NO_LINES: EventLines = { line: '', data: null, offset: 0, eventOffset: 0 };

/** Scans the new text only, so that a long line in small pieces takes linear time. */
export function readLines(state: EventLines, chunk: string): readonly [EventLines, readonly EventData[]] {
  let { line, data, eventOffset } = state;
  const events: EventData[] = [];
  let at = 0;
  for (let end = chunk.indexOf('\n'); end !== -1; end = chunk.indexOf('\n', at)) {
    line += chunk.slice(at, end);
    at = end + 1;
    const text = line.endsWith('\r') ? line.slice(0, -1) : line;
    line = '';
    if (text === '') {
      if (data !== null) events.push({ data, offset: eventOffset });
      data = null;
      eventOffset = state.offset + at;
    } else if (text.startsWith('data:')) {
      const value = text.slice(text[5] === ' ' ? 6 : 5);
      data = data === null ? value : `${data}\n${value}`;
    }
  }
  const next = { line: line + chunk.slice(at), data, offset: state.offset + chunk.length, eventOffset };
  return [next, events];
}

/** Returns the last event of a stream without the final empty line, which some servers leave out. */
export function lastEvent(state: EventLines): EventData | null {
  const [, events] = readLines(state, '\n\n');
  return events[0] ?? null;
}
