import { reason } from '@patchboard/wire';
import { parseError } from './parse-error.ts';
import type { ParsedToolRequest, ParseError, ReplyItem, ToolCallingProtocol } from './protocol.ts';

/** Bounds ids written by a model, which are copied into results, logs and prompts. */
const MAX_REQUEST_ID_LENGTH = 200;

/** Maximum number of problems listed per reply; the rest are counted. Each listed one becomes text that the model reads. */
export const MAX_PROBLEMS = 100;

export interface ParsedReply {
  readonly requests: ParsedToolRequest[];
  readonly errors: ParseError[];
  /** The text outside of requests. */
  readonly text: string;
}

/** Parses one reply incrementally. Every request gets an id; generated ids are unique within the reply. */
export interface ReplyReader {
  read(chunk: string): readonly ReplyItem[];
  end(): readonly ReplyItem[];
}

/** `idPrefix`: the prefix of generated ids, to distinguish the ids of several replies. */
export function replyReader<State>(protocol: ToolCallingProtocol<State>, idPrefix = 'call'): ReplyReader {
  const used = new Set<string>();
  let made = 0;
  let state = protocol.begin();
  let problems = 0;
  let omittedFrom = 0;
  const nameOf = (given: string | undefined): string => {
    let id = given ?? '';
    // Vendors match results by their own ids, so these are kept unchanged.
    if (protocol.replies === 'json' && id !== '') return id;
    while (id === '' || id.length > MAX_REQUEST_ID_LENGTH || used.has(id)) {
      made += 1;
      id = `${idPrefix}-${made}`;
    }
    used.add(id);
    return id;
  };
  const problem = (error: ParseError): ReplyItem => {
    // A problem of the whole response belongs to no request.
    if (error.code === 'reply_invalid') return { kind: 'error', error };
    return { kind: 'error', error: { ...error, requestId: nameOf(error.requestId) } };
  };
  const listed = (items: readonly ReplyItem[]): ReplyItem[] => {
    const found: ReplyItem[] = [];
    for (const item of items) {
      if (item.kind === 'text') found.push(item);
      else if (item.kind === 'request')
        found.push({
          kind: 'request',
          request: { ...item.request, requestId: nameOf(item.request.requestId) },
        });
      else {
        problems += 1;
        if (problems <= MAX_PROBLEMS) found.push(problem(item.error));
        else if (problems === MAX_PROBLEMS + 1) omittedFrom = item.error.offset;
      }
    }
    return found;
  };
  return {
    read: (chunk) => {
      const [next, items] = protocol.step(state, chunk);
      state = next;
      return listed(items);
    },
    end: () => {
      const last = listed(protocol.finish(state));
      if (problems > MAX_PROBLEMS) last.push(problem(omitted(problems - MAX_PROBLEMS, omittedFrom)));
      return last;
    },
  };
}

/** `offset`: that of the first omitted problem. */
export function omitted(count: number, offset: number): ParseError {
  return { ...parseError('problems_omitted', offset, reason('problems_omitted', { count })), count };
}

/** Parses a complete reply. */
export function parseReply<State>(protocol: ToolCallingProtocol<State>, reply: string): ParsedReply {
  const reader = replyReader(protocol);
  return collectReply([...reader.read(reply), ...reader.end()]);
}

/** Characters parsed per turn of the event loop. */
const SLICE = 32_768;

/** As `parseReply`, in slices; `pause` is called between them, to yield to the event loop. */
export async function parseReplyInSlices<State>(
  protocol: ToolCallingProtocol<State>,
  reply: string,
  pause: () => Promise<unknown>,
): Promise<ParsedReply> {
  const reader = replyReader(protocol);
  const items: ReplyItem[] = [];
  for (let at = 0; at < reply.length; at += SLICE) {
    if (at > 0) await pause();
    for (const item of reader.read(reply.slice(at, at + SLICE))) items.push(item);
  }
  return collectReply([...items, ...reader.end()]);
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
