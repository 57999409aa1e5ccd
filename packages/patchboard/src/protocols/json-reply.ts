import { reason } from '@patchboard/wire';
import { parseGuardedJson } from '../core/json/json-guard.ts';
import { isRecord } from '@patchboard/wire/json';
import { lastEvent, NO_LINES, readLines, type EventData, type EventLines } from './event-lines.ts';
import type { ReplyItem } from './protocol.ts';
import { invalid, LIMITS, type Json } from './vendor-calls.ts';

/** The parser of one vendor's responses. `S` is its state between two events of a stream. */
export interface VendorReply<S> {
  readonly beginning: S;
  event(state: S, event: Json, source: EventData): readonly [S, readonly ReplyItem[]];
  /** Called at the end of the stream: calls that are not complete were cut off. */
  end(state: S): readonly ReplyItem[];
  /** Reads a complete response body. `text` is its JSON text. */
  body(value: unknown, text: string): readonly ReplyItem[];
}

/** The kind of the response is unknown until its first character that is not white space. */
export type JsonReplyState<S> =
  | { readonly kind: 'blank'; readonly text: string }
  | { readonly kind: 'body'; readonly text: string }
  | { readonly kind: 'events'; readonly lines: EventLines; readonly vendor: S; readonly hasEvents: boolean };

/** The parser functions of a protocol whose replies are a vendor's JSON: one body, or an event stream. */
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
        return step({ kind: 'events', lines: NO_LINES, vendor: vendor.beginning, hasEvents: false }, text);
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
        const hasEvents = state.hasEvents || events.length > 0;
        return [{ kind: 'events', lines, vendor: memory, hasEvents }, items];
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
        if (last === null && !state.hasEvents) return [invalid(reason('reply_of_no_kind'), 0)];
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
  const problem = parsed.ok ? reason('json_not_object') : parsed.reason;
  return [state, [invalid(reason('reply_event_unreadable', { problem: [problem] }), source.offset)]];
}

function readBody<S>(vendor: VendorReply<S>, text: string): readonly ReplyItem[] {
  const parsed = parseGuardedJson(text.replace(/^\uFEFF/, ' '), LIMITS);
  if (parsed.ok) return vendor.body(parsed.value, text);
  return [invalid(reason('reply_not_json', { problem: [parsed.reason] }), parsed.offset)];
}
