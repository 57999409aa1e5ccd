import { parseGuardedJson } from '../core/json-guard.ts';
import type { JsonLimits } from '../core/json-scanner.ts';
import { lastEvent, NO_LINES, readLines, type EventData, type EventLines } from './event-lines.ts';
import type { ParseError, ReplyItem } from './protocol.ts';
import { isRecord } from './schema-facts.ts';

/** How one vendor puts calls into its answers. `S` is what it remembers between two events of a stream. */
export interface VendorReply<S> {
  readonly beginning: S;
  event(
    state: S,
    event: Readonly<Record<string, unknown>>,
    source: EventData,
  ): readonly [S, readonly ReplyItem[]];
  /** The stream is over: calls that are still open were cut off. */
  end(state: S): readonly ReplyItem[];
  /** A whole answer. `text` is what it was read from. */
  body(value: unknown, text: string): readonly ReplyItem[];
}

/** Nobody knows what it is until the first character that is not blank. */
export type JsonReplyState<S> =
  | { readonly kind: 'blank'; readonly text: string }
  | { readonly kind: 'body'; readonly text: string }
  | { readonly kind: 'events'; readonly lines: EventLines; readonly vendor: S };

const LIMITS: JsonLimits = { depth: 128, values: 1_000_000 };

/** The streaming half of a protocol whose replies are a vendor's JSON: one body, or an event stream. */
export function jsonReplies<S>(vendor: VendorReply<S>): {
  begin(): JsonReplyState<S>;
  step(state: JsonReplyState<S>, chunk: string): readonly [JsonReplyState<S>, readonly ReplyItem[]];
  finish(state: JsonReplyState<S>): readonly ReplyItem[];
} {
  type State = JsonReplyState<S>;
  const step = (state: State, chunk: string): readonly [State, readonly ReplyItem[]] => {
    switch (state.kind) {
      case 'blank': {
        const text = state.text + chunk;
        const first = text.trimStart().charAt(0);
        if (first === '') return [{ kind: 'blank', text }, []];
        if (first === '{' || first === '[') return [{ kind: 'body', text }, []];
        return step({ kind: 'events', lines: NO_LINES, vendor: vendor.beginning }, text);
      }
      case 'body':
        return [{ kind: 'body', text: state.text + chunk }, []];
      case 'events': {
        const [lines, events] = readLines(state.lines, chunk);
        let memory = state.vendor;
        const items: ReplyItem[] = [];
        for (const event of events) {
          const [next, found] = readEvent(vendor, memory, event);
          memory = next;
          items.push(...found);
        }
        return [{ kind: 'events', lines, vendor: memory }, items];
      }
    }
  };
  const finish = (state: State): readonly ReplyItem[] => {
    switch (state.kind) {
      case 'blank':
        return [];
      case 'body':
        return readBody(vendor, state.text);
      case 'events': {
        const last = lastEvent(state.lines);
        const [memory, items] = last === null ? [state.vendor, []] : readEvent(vendor, state.vendor, last);
        return [...items, ...vendor.end(memory)];
      }
    }
  };
  return { begin: () => ({ kind: 'blank', text: '' }), step, finish };
}

function readEvent<S>(
  vendor: VendorReply<S>,
  state: S,
  source: EventData,
): readonly [S, readonly ReplyItem[]] {
  if (source.data === '[DONE]') return [state, []];
  const parsed = parseGuardedJson(source.data, LIMITS);
  if (parsed.ok && isRecord(parsed.value)) return vendor.event(state, parsed.value, source);
  const problem = parsed.ok ? 'it is no object' : parsed.problem;
  return [state, [invalid(`an event of the reply cannot be read: ${problem}`, source.offset)]];
}

function readBody<S>(vendor: VendorReply<S>, text: string): readonly ReplyItem[] {
  const parsed = parseGuardedJson(text.replace(/^\uFEFF/, ' '), LIMITS);
  if (parsed.ok) return vendor.body(parsed.value, text);
  return [invalid(`the reply is no JSON: ${parsed.problem}`, parsed.offset)];
}

export function invalid(message: string, offset: number): ReplyItem {
  return damage({ code: 'reply_invalid', message, offset });
}

export function damage(error: ParseError): ReplyItem {
  return { kind: 'error', error };
}

/** A call as it came over the wire. */
export interface VendorCall {
  readonly id: string;
  readonly name: string;
  /** JSON text, or a value where the vendor sends one. */
  readonly input: string | Readonly<Record<string, unknown>>;
  readonly offset: number;
}

/** A request, or why it is none. No arguments at all stand for an empty object. */
export function requestFrom({ id, name, input, offset }: VendorCall): ReplyItem {
  const known = { ...(id === '' ? {} : { requestId: id }), ...(name === '' ? {} : { toolName: name }) };
  if (name === '')
    return damage({ code: 'tool_name_missing', message: 'the call names no tool', offset, ...known });
  const text = typeof input === 'string' ? input : JSON.stringify(input);
  const parsed = parseGuardedJson(text.trim() === '' ? '{}' : text, LIMITS);
  if (!parsed.ok || !isRecord(parsed.value)) {
    const problem = parsed.ok ? 'they must be an object' : `${parsed.problem} at column ${parsed.column}`;
    const message = `the arguments of ${name} are no JSON object: ${problem}`;
    return damage({ code: 'arguments_invalid', message, offset, ...known });
  }
  return {
    kind: 'request',
    request: { requestId: id, toolName: name, rawBlock: text, args: parsed.value, offset },
  };
}

export function cutOff({ id, name, offset }: Omit<VendorCall, 'input'>): ReplyItem {
  const message = `the reply ended before the call of ${name === '' ? 'a tool' : name} was complete`;
  const known = { ...(id === '' ? {} : { requestId: id }), ...(name === '' ? {} : { toolName: name }) };
  return damage({ code: 'reply_cut', message, offset, ...known });
}

/** Nothing for nothing. */
export function textItem(text: unknown): ReplyItem[] {
  return typeof text === 'string' && text !== '' ? [{ kind: 'text', text }] : [];
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

export function recordsIn(value: unknown): Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

/** Where the call stands in the text it was read from: the place of its id, as good as a reader needs. */
export function offsetOfId(text: string, id: string): number {
  return id === '' ? 0 : Math.max(0, text.indexOf(JSON.stringify(id)));
}
