import { reason } from '@patchboard/wire';
import { isRecord } from '@patchboard/wire/json';
import type { EventData } from '../event-lines.ts';
import type { VendorReply } from '../json-reply.ts';
import {
  streamError,
  partialCallReply,
  closed,
  opened,
  type EventResult,
  type PartialCalls,
} from '../partial-calls.ts';
import type { ReplyItem } from '../protocol.ts';
import {
  cutOff,
  invalid,
  idFinder,
  recordsIn,
  requestFrom,
  textItem,
  textOf,
  type Json,
} from '../vendor-calls.ts';

/** Responses: a response, its `output`, one of its items, or the event stream. */
export const responsesReply: VendorReply<PartialCalls> = partialCallReply({
  event: readEvent,
  body: readResponse,
});

function readEvent(open: PartialCalls, event: Json, source: EventData): EventResult {
  const index = event['output_index'];
  const item = isRecord(event['item']) ? event['item'] : {};
  switch (event['type']) {
    case 'response.output_text.delta':
      return [open, textItem(event['delta'])];
    case 'response.output_item.added': {
      if (item['type'] !== 'function_call') return [open, []];
      const { offset } = source;
      const begun = { id: textOf(item['call_id']), name: textOf(item['name']), input: '', offset };
      return [opened(open, index, begun), []];
    }
    case 'response.output_item.done':
      if (item['type'] !== 'function_call') return [open, []];
      return [closed(open, index), [callOf(item, open.get(index)?.offset ?? source.offset)]];
    case 'error':
      return streamError(open, event, source);
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
  if (!Array.isArray(output)) return [invalid(reason('reply_without_output'), 0)];
  const items = recordsIn(output);
  if (!items.every((item) => typeof item['type'] === 'string'))
    return [invalid(reason('reply_item_without_type'), 0)];
  const placeOf = idFinder(text);
  return items.flatMap((item) => {
    if (item['type'] === 'message')
      return recordsIn(item['content']).flatMap((part) => textItem(part['text']));
    if (item['type'] !== 'function_call') return [];
    return [callOf(item, placeOf(textOf(item['call_id'])))];
  });
}
