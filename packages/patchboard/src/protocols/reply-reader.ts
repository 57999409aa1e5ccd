import { reason } from '@patchboard/wire';
import { parseError } from './parse-error.ts';
import type { ParsedToolRequest, ParseError, ReplyItem, ToolCallingProtocol } from './protocol.ts';

/** Text that a model made up may be any length; an id is copied into results, logs and prompts. */
const LONGEST_REQUEST_ID = 200;

/** Problems of one reply that are listed. The others are counted: each becomes an answer that a model has to read. */
export const MOST_PROBLEMS = 100;

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
  let problems = 0;
  let omittedFrom = 0;
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
  const problem = (error: ParseError): ReplyItem => {
    // What is wrong with the whole of a vendor's answer is wrong with no request of it.
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
        if (problems <= MOST_PROBLEMS) found.push(problem(item.error));
        else if (problems === MOST_PROBLEMS + 1) omittedFrom = item.error.offset;
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
      if (problems > MOST_PROBLEMS) last.push(problem(omitted(problems - MOST_PROBLEMS, omittedFrom)));
      return last;
    },
  };
}

/** `offset`: of the first of them. */
export function omitted(count: number, offset: number): ParseError {
  return { ...parseError('problems_omitted', offset, reason('problems_omitted', { count })), count };
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

/** Characters that are read before others get a turn. */
const SLICE = 32_768;

/** The same slice by slice; `pause` lets others have their turn in between. */
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
