import type { ParsedToolRequest, ParseError, ReplyItem, ToolCallingProtocol } from './protocol.ts';

/** Text that a model made up may be any length; an id is copied into results, logs and prompts. */
const LONGEST_REQUEST_ID = 200;

export interface ParsedReply {
  readonly requests: ParsedToolRequest[];
  readonly errors: ParseError[];
  /** What the model said besides. */
  readonly text: string;
}

/** Reads one reply as it arrives. Every request that comes out has an id; those made here no other one of it has. */
export interface ReplyReader {
  read(chunk: string): readonly ReplyItem[];
  end(): readonly ReplyItem[];
}

/** `idPrefix`: of the ids made here, so that those of several replies can be told apart. */
export function replyReader<State>(protocol: ToolCallingProtocol<State>, idPrefix = 'call'): ReplyReader {
  const used = new Set<string>();
  let made = 0;
  let state = protocol.begin();
  const nameOf = (given: string | undefined): string => {
    let id = given ?? '';
    // A vendor matches results by its own ids, whatever they are.
    if (protocol.replies === 'json' && id !== '') return id;
    while (id === '' || id.length > LONGEST_REQUEST_ID || used.has(id)) {
      made += 1;
      id = `${idPrefix}-${made}`;
    }
    used.add(id);
    return id;
  };
  const named = (item: ReplyItem): ReplyItem => {
    switch (item.kind) {
      case 'text':
        return item;
      case 'request':
        return { kind: 'request', request: { ...item.request, requestId: nameOf(item.request.requestId) } };
      case 'error':
        // What is wrong with the whole of a vendor's answer is wrong with no request of it.
        if (item.error.code === 'reply_invalid') return item;
        return { kind: 'error', error: { ...item.error, requestId: nameOf(item.error.requestId) } };
    }
  };
  return {
    read: (chunk) => {
      const [next, items] = protocol.step(state, chunk);
      state = next;
      return items.map(named);
    },
    end: () => protocol.finish(state).map(named),
  };
}

/** A whole reply at once. */
export function parseReply<State>(
  protocol: ToolCallingProtocol<State>,
  reply: string,
  idPrefix?: string,
): ParsedReply {
  const reader = replyReader(protocol, idPrefix);
  return collectReply([...reader.read(reply), ...reader.end()]);
}

export function collectReply(items: readonly ReplyItem[]): ParsedReply {
  const requests: ParsedToolRequest[] = [];
  const errors: ParseError[] = [];
  let text = '';
  for (const item of items) {
    switch (item.kind) {
      case 'text':
        text += item.text;
        break;
      case 'request':
        requests.push(item.request);
        break;
      case 'error':
        errors.push(item.error);
    }
  }
  return { requests, errors, text };
}
