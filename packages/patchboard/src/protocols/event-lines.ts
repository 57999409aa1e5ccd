/** Server-sent events of a vendor, read without side effects: only `data` matters, and old states stay good. */
export interface EventLines {
  /** The line that is not over yet. */
  readonly line: string;
  /** Null: none yet. */
  readonly data: string | null;
  /** Of the next character, from the beginning of the reply. */
  readonly offset: number;
  /** Of the event that is being read. */
  readonly eventOffset: number;
}

export interface EventData {
  readonly data: string;
  readonly offset: number;
}

export const NO_LINES: EventLines = { line: '', data: null, offset: 0, eventOffset: 0 };

/** Looks at the new text only: a long line that comes in small pieces is joined once. */
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

/** Some servers leave out the empty line at the very end. */
export function lastEvent(state: EventLines): EventData | null {
  const [, events] = readLines(state, '\n\n');
  return events[0] ?? null;
}
