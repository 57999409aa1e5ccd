import type { EventData } from '../event-lines.ts';
import {
  cutOff,
  invalid,
  offsetOfId,
  recordsIn,
  requestFrom,
  textItem,
  textOf,
  type VendorReply,
} from '../json-reply.ts';
import type { ReplyItem } from '../protocol.ts';
import { isRecord } from '../schema-facts.ts';

interface OpenItem {
  readonly id: string;
  readonly name: string;
  readonly offset: number;
}

/** By output index. */
type OpenItems = ReadonlyMap<unknown, OpenItem>;

type Json = Readonly<Record<string, unknown>>;

/** Responses: a response, its `output`, one of its items, or the event stream. */
export const responsesReply: VendorReply<OpenItems> = {
  beginning: new Map(),
  event: readEvent,
  end: (open) => [...open.values()].map(cutOff),
  body: readResponse,
};

function readEvent(open: OpenItems, event: Json, source: EventData): readonly [OpenItems, ReplyItem[]] {
  const index = event['output_index'];
  const item = isRecord(event['item']) ? event['item'] : {};
  switch (event['type']) {
    case 'response.output_text.delta':
      return [open, textItem(event['delta'])];
    case 'response.output_item.added': {
      if (item['type'] !== 'function_call') return [open, []];
      const begun = { id: textOf(item['call_id']), name: textOf(item['name']), offset: source.offset };
      return [new Map(open).set(index, begun), []];
    }
    case 'response.output_item.done': {
      if (item['type'] !== 'function_call') return [open, []];
      const rest = new Map(open);
      rest.delete(index);
      return [rest, [callOf(item, open.get(index)?.offset ?? source.offset)]];
    }
    case 'error':
      return [open, [invalid(`the model's server broke off: ${textOf(event['message'])}`, source.offset)]];
    default:
      return [open, []];
  }
}

function callOf(item: Json, offset: number): ReplyItem {
  const call = { id: textOf(item['call_id']), name: textOf(item['name']), offset };
  if (item['status'] === 'incomplete') return cutOff(call);
  return requestFrom({ ...call, input: textOf(item['arguments']) });
}

function readResponse(value: unknown, text: string): ReplyItem[] {
  const output = Array.isArray(value) ? value : isRecord(value) ? (value['output'] ?? [value]) : null;
  if (!Array.isArray(output)) return [invalid('the reply is no response: it has no "output"', 0)];
  const items = recordsIn(output);
  if (!items.every((item) => typeof item['type'] === 'string'))
    return [invalid('the reply is no response: every item of "output" must have a "type"', 0)];
  return items.flatMap((item) => {
    if (item['type'] === 'message')
      return recordsIn(item['content']).flatMap((part) => textItem(part['text']));
    if (item['type'] !== 'function_call') return [];
    return [callOf(item, offsetOfId(text, textOf(item['call_id'])))];
  });
}
